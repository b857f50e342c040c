// Every figure of every table against a calculation event by event.
#include "trace/explore/statistics/range_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/trace/explore/testing/expected_figures.h"
#include "tests/trace/explore/testing/random_run.h"
#include "tests/trace/explore/testing/snapshot_of_rows.h"
#include "trace/explore/tally/duration_bins.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::trace::explore {
namespace {

using test::call_text;
using test::call_unit;
using test::expect_table;
using test::RandomEvent;
using test::RandomRun;
using test::RandomRunOptions;
using test::Samples;
using test::samples_of;
using testing::HasSubstr;

// A run's collectives, too.
RunSnapshot snapshot_of(const RandomRun& run, store::EventStore& store) {
  RunSnapshot snapshot = test::snapshot_of(store);
  for (const auto& calls : run.calls()) {
    std::vector<model::Collective> rows;
    for (const auto& call : calls) rows.push_back(call.row);
    const int rank = static_cast<int>(snapshot.ranks.size());
    const auto own = test::rows_of(rank, std::move(rows));
    for (std::size_t i = 0; i < calls.size(); ++i) own->collectives.ids[i] = calls[i].row_id;
    own->groups.push_back({rank, 0, 0, 0, {rank}});  // alone, so that all times are known
    for (model::StringId id = 0; id < 24; ++id) own->strings.emplace_back(call_text(id));
    for (int unit = 0; unit < 3; ++unit) {
      model::Unit& of = own->units.emplace_back();
      of.index = unit;
      of.name = static_cast<model::StringId>(own->strings.size());
      own->strings.emplace_back(call_unit(unit));
    }
    test::add_rank(snapshot, own);
  }
  return snapshot;
}

const timeline::RangeTable& table_of(const timeline::RangeFigures& figures,
                                     timeline::StatisticsTable table,
                                     timeline::GroupBy group_by = timeline::GroupBy::kName) {
  const auto found = std::ranges::find_if(figures.tables, [&](const timeline::RangeTable& one) {
    return one.table == table && one.group_by == group_by;
  });
  EXPECT_NE(found, figures.tables.end());
  return *found;
}

void expect_everything(const RandomRun& run, store::EventStore& store,
                       const timeline::TimeRange& range) {
  const auto figures = range_statistics(snapshot_of(run, store), range);
  ASSERT_TRUE(figures) << figures.error().message;
  EXPECT_EQ(figures->incomplete, "");
  EXPECT_EQ(figures->range, range);
  expect_table(table_of(*figures, timeline::StatisticsTable::kKernels),
               samples_of(run, range, model::EventKind::kKernel), false);
  expect_table(table_of(*figures, timeline::StatisticsTable::kOperators),
               samples_of(run, range, model::EventKind::kOperator), false);
  expect_table(table_of(*figures, timeline::StatisticsTable::kCopies),
               samples_of(run, range, model::EventKind::kCopy), true);
  expect_table(table_of(*figures, timeline::StatisticsTable::kLaunches),
               samples_of(run, range, model::EventKind::kLaunch), false);
  for (const auto group_by : {timeline::GroupBy::kName, timeline::GroupBy::kClass,
                              timeline::GroupBy::kShape, timeline::GroupBy::kUnit}) {
    expect_table(table_of(*figures, timeline::StatisticsTable::kCollectives, group_by),
                 samples_of(run, range, group_by), true);
  }
}

timeline::TimeRange whole(const RandomRun& run) {
  return {RandomRun::kBegin, run.end_ns() + 1, {}};
}

std::unique_ptr<store::EventStore> store_of(const RandomRun& run, int threads = 2) {
  return *store::EventStore::open(run.path(), {16 << 20, threads});
}

TEST(DurationBuckets, CoverEveryDurationOnce) {
  for (unsigned bucket = 0; bucket + 1 < kDurationBuckets; ++bucket) {
    const std::int64_t start = bucket_start(bucket);
    ASSERT_EQ(bucket_of(start), bucket);
    ASSERT_EQ(bucket_of(start + bucket_width(bucket) - 1), bucket);
    ASSERT_EQ(bucket_start(bucket + 1), start + bucket_width(bucket));
  }
  EXPECT_EQ(bucket_of(INT64_MAX), kDurationBuckets - 1);
}

TEST(RangeStatistics, AreExactForWholeRunsOfAnyShape) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    RandomRunOptions options;
    options.seed = seed;
    options.out_of_order = seed % 2 == 0;
    const RandomRun run(options);
    const auto store = store_of(run, 1 + static_cast<int>(seed % 3));
    expect_everything(run, *store, whole(run));
  }
}

TEST(RangeStatistics, AreExactForAnyRangeAndChoiceOfRanks) {
  const RandomRun run({});
  const auto store = store_of(run);
  const std::int64_t length = run.end_ns() - RandomRun::kBegin;
  for (int i = 0; i < 12; ++i) {
    SCOPED_TRACE(i);
    timeline::TimeRange range{
        RandomRun::kBegin + length * i / 13, RandomRun::kBegin + length * (i + 1 + i % 4) / 13, {}};
    if (i % 3 == 1) range.ranks = {i % 2, 2};
    expect_everything(run, *store, range);
  }
}

TEST(RangeStatistics, CountAnEventAtTheFirstNanosecondAndNotAtTheEnd) {
  const RandomRun run({});
  const auto store = store_of(run);
  const std::int64_t start = run.events()[7].event.start_ns;
  expect_everything(run, *store, {start, start + 1, {}});
  expect_everything(run, *store, {start - 1, start, {}});
}

TEST(RangeStatistics, StayExactWithAbsurdTimes) {
  RandomRunOptions options;
  options.absurd_times = true;
  const RandomRun run(options);
  const auto store = store_of(run);
  expect_everything(run, *store, whole(run));
}

TEST(RangeStatistics, LeadToTheLongestEvent) {
  const RandomRun run({});
  const auto store = store_of(run);
  const auto figures = range_statistics(snapshot_of(run, *store), whole(run));
  ASSERT_TRUE(figures);
  const auto& chunks = *store->chunks();
  int followed = 0;
  for (const timeline::NameFigures& row :
       table_of(*figures, timeline::StatisticsTable::kKernels).rows) {
    ASSERT_EQ(row.longest.table, timeline::EventTableKind::kKernel);
    const auto chunk = std::ranges::find_if(chunks, [&](const store::ChunkEntry& one) {
      return one.rank == row.longest.rank && one.row_id == row.longest.row;
    });
    ASSERT_NE(chunk, chunks.end());
    const auto columns = store->load(*chunk);
    ASSERT_TRUE(columns);
    EXPECT_EQ((*columns)->start_ns(row.longest.index), row.longest_start_ns);
    EXPECT_EQ(std::max<std::int64_t>(0, (*columns)->duration_ns(row.longest.index)), row.most_ns);
    EXPECT_EQ(store->names().text(chunk->rank, (*columns)->name(row.longest.index)), row.name);
    ++followed;
  }
  EXPECT_GT(followed, 8);
  for (const timeline::NameFigures& row :
       table_of(*figures, timeline::StatisticsTable::kCollectives).rows) {
    EXPECT_EQ(row.longest.table, timeline::EventTableKind::kCollective);
    const auto& of_rank = run.calls()[static_cast<std::size_t>(row.longest.rank)];
    EXPECT_EQ(of_rank[static_cast<std::size_t>(row.longest.row - 1'000)].row.start_ns,
              row.longest_start_ns);
  }
}

TEST(RangeStatistics, KnowWhetherTheyCoverTheWholeRun) {
  RandomRunOptions options;
  options.absurd_times = false;
  const RandomRun run(options);
  const auto store = store_of(run);
  const timeline::TimeRange everything{INT64_MIN, INT64_MAX, {}};
  EXPECT_TRUE(range_statistics(test::snapshot_of(*store), everything)->is_whole_run);
  EXPECT_FALSE(
      range_statistics(test::snapshot_of(*store), {INT64_MIN, INT64_MAX, {0}})->is_whole_run);
  EXPECT_FALSE(range_statistics(test::snapshot_of(*store),
                                {run.events()[0].event.start_ns + 1, INT64_MAX, {}})
                   ->is_whole_run);
}

TEST(RangeStatistics, DecodeOnlyChunksOfTheRange) {
  RandomRunOptions options;
  const RandomRun run(options);
  const auto store = store_of(run);
  const timeline::TimeRange nothing{run.end_ns() + 3'000'000'000, run.end_ns() + 4'000'000'000, {}};
  ASSERT_TRUE(range_statistics(test::snapshot_of(*store), nothing));
  EXPECT_EQ(store->decoded_chunks(), 0);
  ASSERT_TRUE(range_statistics(test::snapshot_of(*store), {INT64_MIN, INT64_MAX, {1}}));
  EXPECT_EQ(store->decoded_chunks(),
            options.lanes * options.commits * (model::kEventKindCount - 1));  // no allocations
}

TEST(RangeStatistics, GiveUpWhenNoLongerWanted) {
  const RandomRun run({});
  const auto store = store_of(run, 1);
  int asked = 0;
  const auto stopped =
      range_statistics(test::snapshot_of(*store), whole(run), [&] { return ++asked < 3; });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, base::ErrorKind::kFailed);
  EXPECT_EQ(asked, 3);
}

TEST(RangeStatistics, LeaveOutWhatIsDamagedAndSaySo) {
  const RandomRun run({});
  test::change_file(store::rank_file(run.path(), 1),
                    "update chunk set data = zeroblob(9) where "
                    "kind = 'kernel' and lane = 0");
  const auto store = store_of(run);
  const auto figures = range_statistics(test::snapshot_of(*store), whole(run));
  ASSERT_TRUE(figures);
  EXPECT_THAT(figures->incomplete, HasSubstr("rank 1, lane 0, kernel"));
  EXPECT_THAT(figures->incomplete, HasSubstr("and 5 more"));
  Samples expected;
  for (const RandomEvent& one : run.events()) {
    if (one.kind != model::EventKind::kKernel || (one.rank == 1 && one.lane == 0)) continue;
    expected[one.name].push_back(
        {std::max<std::int64_t>(0, one.event.duration_ns), one.event.start_ns, 0, one.rank});
  }
  expect_table(table_of(*figures, timeline::StatisticsTable::kKernels), expected, false);
}

TEST(RangeStatistics, SayWhatKernelsDo) {
  const RandomRun run({});
  const auto store = store_of(run);
  const auto figures = range_statistics(test::snapshot_of(*store), whole(run));
  ASSERT_TRUE(figures);
  std::map<std::string, timeline::NameFigures> rows;
  for (const auto& row : table_of(*figures, timeline::StatisticsTable::kKernels).rows)
    rows[row.name] = row;
  EXPECT_EQ(rows.at("sm90_xmma_gemm_bf16").kernel_class, "matrix product");
  EXPECT_EQ(rows.at("sm90_xmma_gemm_bf16").piece_class, base::TimeClass::kCompute);
  EXPECT_EQ(rows.at("flash_fwd_kernel").kernel_class, "attention");
  EXPECT_EQ(rows.at("ncclDevKernel_AllReduce").kernel_class, "communication");
  EXPECT_EQ(table_of(*figures, timeline::StatisticsTable::kOperators).rows[0].kernel_class, "");
  EXPECT_EQ(table_of(*figures, timeline::StatisticsTable::kOperators).rows[0].piece_class,
            base::TimeClass::kHost);
  EXPECT_EQ(table_of(*figures, timeline::StatisticsTable::kCopies).rows[0].piece_class,
            base::TimeClass::kCopy);
}

TEST(RangeStatistics, ColourACollectiveByTheGreaterPartOfItsTime) {
  const RandomRun run({});
  const auto store = store_of(run);
  const std::vector<model::Collective> rows = [] {
    std::vector<model::Collective> calls(3);
    for (model::Collective& call : calls) call.start_ns = RandomRun::kBegin;
    calls[0].end_ns = calls[1].end_ns = RandomRun::kBegin + 100;
    calls[2].end_ns = RandomRun::kBegin + 300;
    return calls;
  }();
  using enum base::TimeClass;
  const auto class_of = [&](std::vector<base::TimeClass> classes) {
    RunSnapshot snapshot = test::snapshot_of(*store);
    test::add_rank(snapshot, test::rows_of(0, rows));
    snapshot.ranks[0].exposure =
        classes.empty() ? nullptr : std::make_shared<const std::vector<base::TimeClass>>(classes);
    const auto figures = range_statistics(snapshot, whole(run));
    return table_of(*figures, timeline::StatisticsTable::kCollectives, timeline::GroupBy::kClass)
        .rows[0]
        .piece_class;
  };
  EXPECT_EQ(class_of({kExposed, kExposed, kOverlapped}), kOverlapped);
  EXPECT_EQ(class_of({kOverlapped, kOverlapped, kExposed}), kExposed);
  EXPECT_EQ(class_of({}), kExposed) << "not scanned yet: nothing computed beside them";
}

}  // namespace
}  // namespace shardlens::trace::explore
