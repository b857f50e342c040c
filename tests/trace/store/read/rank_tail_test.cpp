#include "trace/store/read/rank_tail.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/trace/store/testing/store_fixture.h"
#include "trace/store/read/run_reader.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/write/batch_queue.h"

namespace shardlens::trace::test {
namespace {

struct AllRows {
  model::Batch rows;
  std::vector<std::int64_t> span_ids, collective_ids;
  std::vector<store::BucketParameter> bucket_parameters;
  int parts = 0;
};

AllRows read_all(store::Database& database, int rank, std::int64_t most) {
  store::RankTail reader(rank);
  AllRows all;
  for (bool more = true; more;) {
    auto part = reader.read_some(database, most);
    EXPECT_TRUE(part) << part.error().message;
    if (!part) break;
    more = part->has_more;
    part->rows.rank_info.reset();
    all.span_ids.insert(all.span_ids.end(), part->span_ids.begin(), part->span_ids.end());
    all.collective_ids.insert(all.collective_ids.end(), part->collective_ids.begin(),
                              part->collective_ids.end());
    all.bucket_parameters.insert(all.bucket_parameters.end(), part->bucket_parameters.begin(),
                                 part->bucket_parameters.end());
    store::append(all.rows, std::move(part->rows));
    ++all.parts;
  }
  return all;
}

// What polling says of the same rank, without what parts leave out.
model::Batch expected_rows(const std::filesystem::path& run, int rank) {
  std::vector<model::Batch> batches;
  const auto reader = store::RunReader::open(run);
  EXPECT_TRUE(reader);
  while (true) {
    auto some = (*reader)->poll();
    EXPECT_TRUE(some);
    if (!some || some->empty()) break;
    for (model::Batch& batch : *some) batches.push_back(std::move(batch));
  }
  model::Batch all = joined(batches, rank);
  all.events.clear();
  all.log.clear();
  all.lost.clear();
  all.pending.reset();
  all.heartbeat.reset();
  all.cost.reset();
  all.rank_info.reset();
  for (model::Bucket& bucket : all.buckets) {
    bucket.parameters.clear();
    bucket.parameter_bytes.clear();
  }
  return all;
}

TEST(RankTail, GivesTheSameRowsInPartsOfAnySize) {
  const Folder folder;
  const auto run = record_run(folder.path(), "parts", 2, 6, true);
  for (const int rank : {0, 1}) {
    auto file = store::TraceFile::open(store::rank_file(run, rank));
    ASSERT_TRUE(file);
    const std::string expected = text_of(expected_rows(run, rank));
    for (const std::int64_t most : {1, 7, 100'000}) {
      const AllRows all = read_all(file->database(), rank, most);
      EXPECT_EQ(text_of(all.rows), expected) << "parts of " << most;
      EXPECT_EQ(all.span_ids.size(), all.rows.spans.size());
      EXPECT_EQ(all.collective_ids.size(), all.rows.collectives.size());
      EXPECT_TRUE(std::ranges::is_sorted(all.span_ids));
      EXPECT_FALSE(all.bucket_parameters.empty());
      if (most == 1) {
        EXPECT_GT(all.parts, 10);
      }
    }
  }
}

TEST(RankTail, IdsFindTheRowsAgain) {
  const Folder folder;
  const auto run = record_run(folder.path(), "ids", 1, 3);
  auto file = store::TraceFile::open(store::rank_file(run, 0));
  ASSERT_TRUE(file);
  const AllRows all = read_all(file->database(), 0, 50);
  ASSERT_FALSE(all.span_ids.empty());
  for (std::size_t i = 0; i < all.span_ids.size(); ++i) {
    const auto start = file->database().integer("select start_ns from span where row_id=" +
                                                std::to_string(all.span_ids[i]));
    ASSERT_TRUE(start);
    EXPECT_EQ(*start, all.rows.spans[i].start_ns);
  }
}

TEST(RankTail, PassesOverARowThatMakesNoSenseAndTellsIt) {
  const Folder folder;
  const auto run = record_run(folder.path(), "nonsense", 1, 3);
  change_file(store::rank_file(run, 0),
              "update span set phase='lunch' where row_id="
              "(select min(row_id) from span)");
  auto file = store::TraceFile::open(store::rank_file(run, 0));
  ASSERT_TRUE(file);
  store::RankTail reader(0);
  const auto part = reader.read_some(file->database(), 100'000);
  ASSERT_TRUE(part);
  EXPECT_NE(reader.problem().find("lunch"), std::string::npos) << reader.problem();
  EXPECT_EQ(part->rows.spans.size() + 1,
            expected_rows(record_run(folder.path(), "whole", 1, 3), 0).spans.size());
}

}  // namespace
}  // namespace shardlens::trace::test
