#include "tests/trace/explore/testing/damaged_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <mutex>

#include "tests/trace/explore/testing/snapshot_of_rows.h"
#include "tests/trace/store/batches_in_range.h"
#include "trace/explore/find/name_search.h"
#include "trace/explore/run_explorer.h"
#include "trace/explore/statistics/range_statistics.h"
#include "trace/store/chunk/event_store.h"
#include "trace/store/read/run_reader.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/sql/query.h"
#include "trace/store/upkeep/pack.h"
#include "trace/store/upkeep/verify.h"
#include "trace/store/write/row_writer.h"

namespace shardlens::trace::test {

namespace fs = std::filesystem;

namespace {

constexpr int kSteps = 3;
// A block of events that claims to be as large as one may be takes half of it.
constexpr std::size_t kMostBytesAtOnce = 128u << 20;
constexpr std::chrono::seconds kLongestCase{20};

void expect_explained(const base::Error& error) {
  EXPECT_NE(error.kind, base::ErrorKind::kUsage) << error.message;
  EXPECT_GT(error.message.size(), 10U);
}

model::Batch base_batch(int rank, std::int64_t step) {
  model::Batch batch = step_batch(rank, step);
  const std::int64_t start_ns = batch.steps[0].start_ns;
  for (int kind = 0; kind < model::kEventKindCount; ++kind) {
    model::EventRun run{rank, kind % 2, static_cast<model::EventKind>(kind), {}};
    run.events = operator_events(start_ns, 40, static_cast<unsigned>(kind + rank * 10));
    for (model::Event& event : run.events)
      event.correlation = static_cast<std::uint64_t>(event.start_ns);
    batch.events.push_back(std::move(run));
  }
  return batch;
}

}  // namespace

DamagedRuns::DamagedRuns() {
  model::RunInfo info = run_info("damaged", 2);
  run_ = *store::create_run(folder_.path(), info, false);
  for (int rank = 0; rank < 2; ++rank) {
    auto writer = store::RowWriter::create_file(store::rank_file(run_, rank), rank);
    EXPECT_TRUE(writer);
    for (std::int64_t step = 0; step < kSteps; ++step) {
      const model::Batch batch = base_batch(rank, step);
      for (const model::EventRun& run : batch.events) {
        events_of_rank_[rank] += static_cast<std::int64_t>(run.events.size());
      }
      EXPECT_TRUE(writer->begin() && writer->write(batch) && writer->commit(batch.steps[0].end_ns));
    }
  }
  info.status = model::RunStatus::kDone;
  info.end_ns = info.start_ns + 1'000'000'000;
  EXPECT_TRUE(store::update_run(run_, info) && store::checkpoint_run(run_));
  packed_ = folder_ / "damaged.shardlens";
  EXPECT_TRUE(store::pack_run(run_, packed_));
  const auto store = store::EventStore::open(run_);
  EXPECT_TRUE(store);
  for (const store::ChunkEntry& chunk : *(*store)->chunks()) ++chunks_of_rank_[chunk.rank];
  chunks_ = chunks_of_rank_[0] + chunks_of_rank_[1];
}

void DamagedRuns::copy_run(bool packed) {
  fs::remove_all(copy_);
  copy_ = folder_ / (packed ? "copy.shardlens" : "copy");
  fs::remove_all(copy_);
  for (const char* suffix : {"-wal", "-shm", "-journal"}) fs::remove(copy_.string() + suffix);
  fs::copy(packed ? packed_ : run_, copy_, fs::copy_options::recursive);
}

void DamagedRuns::check(std::uint64_t number, Readers readers) {
  SCOPED_TRACE("case " + std::to_string(number));
  const auto begun = std::chrono::steady_clock::now();
  copy_run(number % 2 == 1);
  const Damage damage = RandomDamage(number).apply(copy_);
  SCOPED_TRACE(damage.what);
  take_largest_allocation();
  check_events(damage);
  if (readers == Readers::kAll) check_explorer();
  check_reader();
  check_query(number);
  check_verify(damage);
  EXPECT_LT(take_largest_allocation(), kMostBytesAtOnce);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, kLongestCase);
}

void DamagedRuns::check_events(const Damage& damage) {
  const auto opened = store::EventStore::open(copy_, {1 << 20, 2});
  if (!opened) {
    EXPECT_FALSE(damage.spares_rank_0) << opened.error().message;
    return expect_explained(opened.error());
  }
  store::EventStore& store = **opened;
  const auto chunks = store.chunks();
  std::map<int, std::int64_t> events;
  std::mutex mutex;
  const auto visit =
      store.visit(*chunks, [&](int, const store::ChunkEntry& chunk, const auto& columns) {
        const std::lock_guard lock(mutex);
        events[chunk.rank] += static_cast<std::int64_t>(columns.size());
      });
  EXPECT_EQ(visit.unreadable > 0, !visit.problem.empty());
  if (damage.spares_rank_0) {
    EXPECT_EQ(events[0], events_of_rank_[0]);
  }
  if (damage.changed_chunks >= 0) {
    EXPECT_GE(visit.visited, chunks_ - damage.changed_chunks);
  }

  for (const timeline::TimeRange& range :
       {timeline::TimeRange{INT64_MIN, INT64_MAX, {}},
        timeline::TimeRange{1'790'000'000'050'000'000, 1'790'000'000'150'000'000, {1}}}) {
    const auto figures = explore::range_statistics(snapshot_of(store), range);
    ASSERT_TRUE(figures) << figures.error().message;
    std::vector<store::ChunkEntry> counted;
    std::ranges::copy_if(*chunks, std::back_inserter(counted), [&](const store::ChunkEntry& chunk) {
      return chunk.kind != model::EventKind::kAllocation && range.ranks.empty() &&
             chunk.header.first_ns < range.end_ns;
    });
    const auto again = store.visit(counted, [](int, const store::ChunkEntry&, const auto&) {});
    EXPECT_TRUE(again.unreadable == 0 || !figures->incomplete.empty());
  }
  explore::NameSearch search(store);
  EXPECT_TRUE(search.find({"a", false, true}, {}));
  for (const int direction : {1, -1}) {
    const auto hit =
        search.neighbour_hit({"operator", false, true}, direction, 1'790'000'000'100'000'000, {});
    if (!hit) continue;
    const auto place = std::ranges::find_if(*chunks, [&](const store::ChunkEntry& chunk) {
      return chunk.rank == hit->ref.rank && chunk.row_id == hit->ref.row;
    });
    ASSERT_NE(place, chunks->end());
    EXPECT_TRUE(store.load_whole(*place));
  }
  EXPECT_FALSE(store.refresh()) << "nothing was added since";
}

void DamagedRuns::check_explorer() {
  const auto opened = explore::RunExplorer::open(copy_, {1 << 20, 2});
  if (!opened) return expect_explained(opened.error());
  explore::RunExplorer& run = **opened;
  int calls = 0;
  for (bool more = true; more && calls < 2'000; ++calls) {
    const auto worked = run.work();
    if (!worked) expect_explained(worked.error());
    more = worked && *worked;
  }
  EXPECT_LT(calls, 2'000);
  const auto rows = run.rows();
  for (const double parts : {1.0, 40.0}) {
    const double length = static_cast<double>(rows->end_ns) - static_cast<double>(rows->start_ns);
    timeline::PictureRequest request;
    request.ns_per_pixel = std::max(1.0, length / 800 / parts);
    const auto end_ns = static_cast<std::int64_t>(
        std::min(9e18, static_cast<double>(rows->start_ns) + length / parts));
    for (const timeline::TimelineRow& row : rows->rows) {
      request.windows.push_back({row.id, rows->start_ns, end_ns});
    }
    const auto picture = run.picture(request);
    if (!picture) {
      expect_explained(picture.error());
      continue;
    }
    for (const timeline::RowPicture& row : picture->rows) {
      // No more than a few per pixel and level.
      EXPECT_LT(row.pieces.size(), 800U * 3 * 256);
    }
  }
  EXPECT_TRUE(run.statistics({INT64_MIN, INT64_MAX, {}}));
  const auto hit = run.neighbour_hit({".", false, true}, 1, 1'790'000'000'000'000'000);
  if (hit) {
    const auto details = run.details(hit->ref);
    if (!details) expect_explained(details.error());
  }
  EXPECT_TRUE(run.find({"operator|forward|bucket", false, true}));
}

void DamagedRuns::check_reader() {
  const auto reader = store::RunReader::open(copy_);
  if (!reader) return expect_explained(reader.error());
  const auto info = (*reader)->info();
  if (!info) expect_explained(info.error());
  int polls = 0, failures = 0;
  for (; polls < 1'000 && failures < 3; ++polls) {
    const auto batches = (*reader)->poll();
    if (!batches) {
      expect_explained(batches.error());
      ++failures;
    } else if (batches->empty()) {
      break;
    }
  }
  EXPECT_LT(polls, 1'000);
  const auto range =
      test::batches_in_range(**reader, 1'790'000'000'000'000'000, 1'790'000'001'000'000'000);
  if (!range) expect_explained(range.error());
}

// One after the other: opening takes longest.
void DamagedRuns::check_query(std::uint64_t number) {
  constexpr std::array kQueries{
      "select name, count(*), sum(duration_ns) from kernel group by name",
      "select step, sum(bytes) from collective group by step",
      "select count(*) from kernel k join launch l using (rank, correlation)"};
  const auto answer = store::query_run(copy_, kQueries[number / 2 % kQueries.size()]);
  // A column of a damaged file may be gone, which SQLite takes for a wrong question.
  EXPECT_TRUE(answer || answer.error().message.size() > 10U);
}

void DamagedRuns::check_verify(const Damage& damage) {
  const auto report = store::verify_run(copy_);
  if (!report) return expect_explained(report.error());
  EXPECT_LE(report->damage.size(), 1'000U);
  if (!damage.spares_rank_0) return;
  const auto rank = report->ranks.find(0);
  ASSERT_NE(rank, report->ranks.end());
  // A row of the other file may say that it is of this rank.
  EXPECT_GE(rank->second.readable_events, events_of_rank_[0]);
}

}  // namespace shardlens::trace::test
