// A run of three ranks of which every bulk event is known, as a folder and packed. For tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "tests/trace/store/testing/store_fixture.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/sql/query.h"
#include "trace/store/upkeep/pack.h"
#include "trace/store/write/row_writer.h"

namespace shardlens::trace::store {

inline constexpr std::int64_t kBegin = 1'790'000'000'000'000'000;
inline constexpr std::int64_t kCommitNs = 1'000'000'000;
inline constexpr int kRanks = 3, kCommits = 5, kLanes = 2;
inline constexpr std::size_t kEventsOfChunk = 300;

// An event with everything that its chunk does not say.
struct KnownEvent {
  int rank = 0, lane = 0;
  model::EventKind kind = model::EventKind::kKernel;
  model::Event event;
  std::string name;
};

// Every rank numbers the same names in an order of its own.
inline std::string name_of(int rank, model::StringId id) {
  const char* const names[] = {"gemm", "relu", "softmax", "it's \"quoted\" 🚀", "Gemm"};
  return id == 0 ? "" : names[(id + static_cast<model::StringId>(rank)) % std::size(names)];
}

class EventTables : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new test::Folder();
    events_ = new std::vector<KnownEvent>();
    model::RunInfo info = test::run_info("known", kRanks);
    run_ = *create_run(folder_->path(), info, false);
    for (int rank = 0; rank < kRanks; ++rank) write_rank(rank);
    packed_ = *folder_ / "known.shardlens";
    ASSERT_TRUE(pack_run(run_, packed_));
  }
  static void TearDownTestSuite() {
    delete folder_;
    delete events_;
  }

  // Commit by commit one chunk per lane and kind, each within its own second.
  static void write_rank(int rank) {
    auto writer = RowWriter::create_file(rank_file(run_, rank), rank);
    ASSERT_TRUE(writer);
    std::mt19937 random(static_cast<unsigned>(rank));
    for (int commit = 0; commit < kCommits; ++commit) {
      model::Batch batch;
      const std::int64_t start = kBegin + commit * kCommitNs;
      if (commit == 0) {
        for (model::StringId id = 1; id <= 5; ++id)
          batch.strings.push_back({rank, id, name_of(rank, id)});
        batch.lanes = {{rank, 0, model::LaneKind::kOperators, 1},
                       {rank, 1, model::LaneKind::kCompute, 2}};
      }
      model::Step step;
      step.rank = rank;
      step.index = commit + 10;
      step.start_ns = start;
      step.end_ns = start + kCommitNs / 2;
      batch.steps = {step};
      for (int kind = 0; kind < model::kEventKindCount; ++kind) {
        for (int lane = 0; lane < kLanes; ++lane) {
          batch.events.push_back(
              random_run(rank, lane, static_cast<model::EventKind>(kind), start, random));
        }
      }
      ASSERT_TRUE(writer->begin());
      ASSERT_TRUE(writer->write(batch));
      ASSERT_TRUE(writer->commit(start + kCommitNs));
    }
  }

  static model::EventRun random_run(int rank, int lane, model::EventKind kind, std::int64_t start,
                                    std::mt19937& random) {
    model::EventRun run{rank, lane, kind, {}};
    std::int64_t now = start;
    for (std::size_t i = 0; i < kEventsOfChunk; ++i) {
      model::Event event;
      event.start_ns = now;
      event.duration_ns = static_cast<std::int64_t>(random() % 4'000'000) - 1'000;
      event.name = random() % 6;
      event.flags = random() % 4 | random() % 3 << model::kEventDepthShift;
      if (kind == model::EventKind::kAllocation) {
        event.flags |= random() % 4 << 2 | random() % 10 << model::kEventCategoryShift;
      }
      event.correlation = random() % 1'000;
      event.value = static_cast<std::int64_t>(random() % 1'000'000) - 500'000;
      now += static_cast<std::int64_t>(random() % (kCommitNs / kEventsOfChunk * 2 - 40'000));
      now = std::min(now, start + kCommitNs - 5'000'000);
      run.events.push_back(event);
      events_->push_back({rank, lane, kind, event, name_of(rank, event.name)});
    }
    return run;
  }

  static QueryResult result(const std::string& sql) {
    const auto from_folder = query_run(run_, sql);
    EXPECT_TRUE(from_folder) << sql << ": " << from_folder.error().message;
    const auto from_packed = query_run(packed_, sql);
    EXPECT_TRUE(from_packed) << sql << ": " << from_packed.error().message;
    if (!from_folder || !from_packed) return {};
    EXPECT_EQ(from_folder->rows, from_packed->rows) << sql;
    EXPECT_EQ(from_folder->decoded_chunks, from_packed->decoded_chunks) << sql;
    return *from_folder;
  }
  static std::string value(const std::string& sql) {
    const QueryResult all = result(sql);
    return all.rows.empty() ? "nothing" : to_text(all.rows[0][0]);
  }
  static std::int64_t decoded(const std::string& sql) { return result(sql).decoded_chunks; }

  template <typename Holds>
  static std::int64_t count(model::EventKind kind, Holds&& holds) {
    return std::ranges::count_if(
        *events_, [&](const KnownEvent& known) { return known.kind == kind && holds(known); });
  }

  static inline test::Folder* folder_ = nullptr;
  static inline std::vector<KnownEvent>* events_ = nullptr;
  static inline std::filesystem::path run_, packed_;
};

}  // namespace shardlens::trace::store
