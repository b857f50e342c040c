// Figures of a whole run: counted once, shown while they are counted, kept with the run.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "tests/trace/explore/testing/snapshot_of_rows.h"
#include "tests/trace/store/testing/sqlite_memory.h"
#include "tests/trace/store/testing/store_fixture.h"
#include "trace/explore/explored_run.h"
#include "trace/explore/run_explorer.h"
#include "trace/explore/statistics/range_statistics.h"
#include "trace/store/read/run_reader.h"
#include "trace/synthetic/synthetic_run.h"
#include "trace/timeline/values/straggler_figures.h"

namespace shardlens::trace::explore {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kEvents = 240'000;
// Holds a few of the run's chunks alone.
constexpr store::EventStoreOptions kSmallCache{.cache_bytes = 4u << 20, .threads = 2};

class WholeRuns : public testing::Test {
 protected:
  WholeRuns() {
    synthetic::SyntheticRunOptions options;
    options.ranks = 2;
    options.events = kEvents;
    run_ = synthetic::generate_run(folder_.path(), options)->folder;
    let_time_pass();
  }
  void let_time_pass() const {
    for (const auto& entry : fs::directory_iterator(run_)) {
      fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::hours(1));
    }
  }
  std::unique_ptr<RunExplorer> opened() const { return *RunExplorer::open(run_, kSmallCache); }
  static timeline::RangeFigures counted(RunExplorer& explorer) {
    while (*explorer.work()) {
    }
    return *explorer.statistics(explorer.whole());
  }

  test::Folder folder_;
  fs::path run_;
};

void expect_same(const timeline::RangeTable& a, const timeline::RangeTable& b) {
  ASSERT_EQ(a.rows.size(), b.rows.size());
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    EXPECT_EQ(a.rows[i], b.rows[i]) << a.rows[i].name;
  }
  EXPECT_EQ(a, b);
}

void expect_same(const timeline::RangeFigures& a, const timeline::RangeFigures& b) {
  EXPECT_EQ(a.range, b.range);
  EXPECT_EQ(a.is_whole_run, b.is_whole_run);
  EXPECT_EQ(a.incomplete, b.incomplete);
  ASSERT_EQ(a.tables.size(), b.tables.size());
  for (std::size_t i = 0; i < a.tables.size(); ++i) expect_same(a.tables[i], b.tables[i]);
  ASSERT_TRUE(a.stragglers && b.stragglers);
  EXPECT_EQ(a.stragglers->matched, b.stragglers->matched);
  EXPECT_EQ(a.stragglers->calls, b.stragglers->calls);
}

TEST_F(WholeRuns, AreCountedAsAnyRangeIs) {
  const auto explorer = opened();
  const timeline::RangeFigures whole = counted(*explorer);
  EXPECT_TRUE(whole.is_whole_run);
  const auto store = *store::EventStore::open(run_, kSmallCache);
  const auto fresh = range_statistics(test::snapshot_of(*store), explorer->whole());
  ASSERT_TRUE(fresh);
  for (const timeline::RangeTable& table : fresh->tables) {
    if (table.table == timeline::StatisticsTable::kCollectives) continue;
    const auto same = std::ranges::find(whole.tables, table.table, &timeline::RangeTable::table);
    ASSERT_NE(same, whole.tables.end());
    expect_same(*same, table);
  }
}

TEST_F(WholeRuns, DecodeNoChunkMoreThanTwiceAndALittle) {
  const auto run = *ExploredRun::open(run_, kSmallCache);
  while (*run->work()) {
  }
  store::EventStore& store = *run->snapshot()->store;
  const auto chunks = static_cast<std::int64_t>(store.chunks()->size());
  ASSERT_GT(chunks, 30);
  EXPECT_LE(store.decoded_chunks(), chunks + chunks / 3) << "scan and exposure";
  const auto before = store.decoded_chunks();
  const auto snapshot = run->snapshot();
  RunSnapshot scanned = test::snapshot_of(store);
  scanned.totals = snapshot->totals;
  ASSERT_TRUE(range_statistics(scanned, whole_range(*snapshot->rows)));
  EXPECT_LE(store.decoded_chunks() - before, chunks) << "quantiles";
}

TEST_F(WholeRuns, TellWhatWasCountedSoFar) {
  const auto explorer = opened();
  EXPECT_FALSE(explorer->whole_so_far());
  std::vector<std::shared_ptr<const timeline::RangeFigures>> parts;
  while (*explorer->work()) {
    if (auto part = explorer->whole_so_far()) parts.push_back(std::move(part));
  }
  const timeline::RangeFigures all = *explorer->statistics(explorer->whole());
  ASSERT_GT(parts.size(), 0u);
  std::int64_t before = 0;
  for (const auto& part : parts) {
    EXPECT_GT(part->fraction, 0);
    EXPECT_LT(part->fraction, 1);
    ASSERT_FALSE(part->tables.empty());
    EXPECT_GE(part->tables[0].count, before);
    before = part->tables[0].count;
    for (const timeline::NameFigures& row : part->tables[0].rows) {
      EXPECT_EQ(row.median_ns, timeline::kUnknownNs);
      EXPECT_EQ(row.p99_ns, timeline::kUnknownNs);
      EXPECT_GT(row.count, 0);
    }
  }
  EXPECT_GT(before, 0);
  EXPECT_LE(before, all.tables[0].count);
  EXPECT_EQ(explorer->whole_so_far()->fraction, 1);
}

TEST_F(WholeRuns, HaveTheirFiguresAtOnceWhenTheyAreOpenedAgain) {
  const auto first = opened();
  const timeline::RangeFigures figures = counted(*first);
  const auto hits = *first->find({.text = "gemm|all_reduce", .is_plain = false});
  const auto again = *ExploredRun::open(run_, kSmallCache);
  ASSERT_TRUE(again->whole());
  expect_same(*again->whole(), figures);
  while (*again->work()) {
  }
  EXPECT_EQ(again->snapshot()->store->decoded_chunks(), 0);
  for (const RankSnapshot& rank : again->snapshot()->ranks) {
    ASSERT_TRUE(rank.exposure);
    EXPECT_EQ(rank.exposure->size(), rank.rows->collectives.size());
    EXPECT_GT(rank.exposure->size(), 0u);
  }
  const auto explorer = opened();
  expect_same(counted(*explorer), figures);
  const auto found = *explorer->find({.text = "gemm|all_reduce", .is_plain = false});
  EXPECT_EQ(found.count, hits.count);
  const auto rows = explorer->rows(), before = first->rows();
  EXPECT_EQ(rows->rows.size(), before->rows.size());
  EXPECT_EQ(rows->overlapping_events, before->overlapping_events);
  // Part of it is counted as ever.
  const timeline::TimeRange part{rows->start_ns, (rows->start_ns + rows->end_ns) / 2, {}};
  EXPECT_LT(explorer->statistics(part)->tables[0].count, figures.tables[0].count);
}

TEST_F(WholeRuns, ThatHaveChangedSinceAreCountedAgain) {
  counted(*opened());
  ASSERT_TRUE(opened()->whole_so_far());
  const auto file = run_ / "rank_1.sqlite";
  const auto time = fs::last_write_time(file);
  fs::last_write_time(file, time - std::chrono::seconds(1));
  EXPECT_FALSE(opened()->whole_so_far());
  fs::last_write_time(file, time);
  EXPECT_TRUE(opened()->whole_so_far());
}

TEST_F(WholeRuns, ThatMayStillBeWrittenKeepNothing) {
  fs::last_write_time(run_ / "rank_0.sqlite", fs::file_time_type::clock::now());
  counted(*opened());
  let_time_pass();
  EXPECT_FALSE(opened()->whole_so_far());
}

// Three connections to each rank's file, each of which SQLite would let keep 90 KB and more.
TEST(RunsOfManyRanks, KeepFewPagesOfTheirFiles) {
  constexpr int kRanks = 24;
  const test::Folder folder;
  synthetic::SyntheticRunOptions options;
  options.ranks = kRanks;
  options.events = kRanks * 11'000;
  const auto run = synthetic::generate_run(folder.path(), options);
  ASSERT_TRUE(run) << run.error().message;
  const auto before = test::sqlite_bytes();
  const auto explorer = *RunExplorer::open(run->folder, kSmallCache);
  while (*explorer->work()) {
  }
  ASSERT_TRUE(explorer->statistics(explorer->whole()));
  const auto rows = explorer->rows();
  const double ns_per_pixel = static_cast<double>(rows->end_ns - rows->start_ns) / 2000;
  ASSERT_TRUE(explorer->picture({{{0, rows->start_ns, rows->end_ns}}, ns_per_pixel}, {}));
  EXPECT_GT(test::sqlite_bytes(), before);
  EXPECT_LT((test::sqlite_bytes() - before) / kRanks, 120'000);

  const auto reader = *store::RunReader::open(run->folder);
  const auto opened = test::sqlite_bytes();
  while (!reader->poll()->empty()) {
  }
  EXPECT_LT((test::sqlite_bytes() - opened) / kRanks, 20'000);
}

}  // namespace
}  // namespace shardlens::trace::explore
