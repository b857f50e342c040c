// Every figure of every table against a calculation event by event.
#include "trace/explore/range_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/trace/explore/random_run.h"
#include "trace/explore/duration_buckets.h"
#include "trace/store/run_folder.h"
#include "trace/store/sqlite.h"

namespace shardlens::trace {
namespace {

using test::RandomCall;
using test::RandomEvent;
using test::RandomRun;
using test::RandomRunOptions;
using testing::HasSubstr;

// What a row of a table is made of.
struct Sample {
  std::int64_t duration_ns = 0, start_ns = 0, bytes = 0;
  int rank = 0;
};
using Samples = std::map<std::string, std::vector<Sample>>;

bool is_in(const TimeRange& range, int rank, std::int64_t start_ns) {
  const bool has_rank = range.ranks.empty() || std::ranges::count(range.ranks, rank) > 0;
  return has_rank && start_ns >= range.start_ns && start_ns < range.end_ns;
}

Samples samples_of(const RandomRun& run, const TimeRange& range, EventKind kind) {
  Samples samples;
  for (const RandomEvent& one : run.events()) {
    if (one.kind != kind || !is_in(range, one.rank, one.event.start_ns)) continue;
    samples[one.name].push_back({std::max<std::int64_t>(0, one.event.duration_ns),
                                 one.event.start_ns, one.event.value, one.rank});
  }
  return samples;
}

// Texts of collectives have ids of their own, beyond those of the file.
std::string_view call_text(StringId id) {
  constexpr std::string_view kTexts[] = {"root forward gather", "blocks.1 backward gather",
                                         "blocks.1 reduction", "bfloat16"};
  return id >= 20 && id < 24 ? kTexts[id - 20] : std::string_view();
}

std::string call_name(const Collective& row, GroupBy group_by) {
  const std::string function(to_string(row.function));
  std::string tag;
  if (row.tag_kind == TagKind::kBucket) tag = "bucket " + std::to_string(row.tag_index);
  if (row.tag_kind >= TagKind::kUnit) tag = call_text(row.tag_name);
  switch (group_by) {
    case GroupBy::kName:
      return tag.empty() ? function : function + " · " + tag;
    case GroupBy::kClass:
      return function;
    case GroupBy::kShape:
      return function + " · " + std::to_string(row.bytes / 1024) + ".0 KiB bfloat16";
    case GroupBy::kUnit:
      if (row.tag_kind == TagKind::kUnit) return row.tag_name == 20 ? "root" : "blocks.1";
      return tag.empty() ? "no tag" : tag;
  }
  return "";
}

Samples samples_of(const RandomRun& run, const TimeRange& range, GroupBy group_by) {
  Samples samples;
  for (const auto& calls : run.calls()) {
    for (const auto& [row, id] : calls) {
      if (!is_in(range, row.rank, row.start_ns)) continue;
      samples[call_name(row, group_by)].push_back(
          {std::max<std::int64_t>(0, row.end_ns - row.start_ns), row.start_ns, row.bytes,
           row.rank});
    }
  }
  return samples;
}

std::int64_t quantile(const std::vector<Sample>& sorted, double q) {
  const auto rank =
      static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size()) - 1e-9));
  return sorted[std::max<std::size_t>(rank, 1) - 1].duration_ns;
}

// Durations that lie on the border of two bins may be in either.
void expect_bins(const DurationHistogram& histogram, const std::vector<Sample>& samples) {
  std::array<std::int64_t, kHistogramBins> least{}, most{};
  const double ratio = std::log(histogram.last_ns / histogram.first_ns);
  for (const Sample& sample : samples) {
    const auto duration = static_cast<double>(sample.duration_ns);
    double at = duration <= histogram.first_ns || ratio == 0
                    ? 0
                    : std::log(duration / histogram.first_ns) / ratio * kHistogramBins;
    const auto bin = [&](double shift) {
      return static_cast<std::size_t>(std::clamp(at + shift, 0.0, kHistogramBins - 1.0));
    };
    if (bin(-1e-6) == bin(1e-6)) ++least[bin(0)];
    ++most[bin(-1e-6)];
    if (bin(-1e-6) != bin(1e-6)) ++most[bin(1e-6)];
  }
  std::int64_t sum = 0;
  for (std::size_t bin = 0; bin < kHistogramBins; ++bin) {
    EXPECT_GE(histogram.counts[bin], least[bin]) << "bin " << bin;
    EXPECT_LE(histogram.counts[bin], most[bin]) << "bin " << bin;
    sum += histogram.counts[bin];
  }
  EXPECT_EQ(sum, static_cast<std::int64_t>(samples.size()));
}

void expect_figures(const NameFigures& figures, std::vector<Sample> samples, bool has_bytes) {
  SCOPED_TRACE(figures.name);
  std::ranges::stable_sort(samples, {}, &Sample::duration_ns);
  std::int64_t total = 0, bytes = 0;
  for (const Sample& sample : samples) {
    if (__builtin_add_overflow(total, sample.duration_ns, &total)) total = INT64_MAX;
    bytes += sample.bytes;
  }
  EXPECT_EQ(figures.count, static_cast<std::int64_t>(samples.size()));
  EXPECT_EQ(figures.total_ns, total);
  EXPECT_DOUBLE_EQ(figures.mean_ns,
                   static_cast<double>(total) / static_cast<double>(samples.size()));
  EXPECT_EQ(figures.median_ns, quantile(samples, 0.5));
  EXPECT_EQ(figures.p99_ns, quantile(samples, 0.99));
  EXPECT_EQ(figures.least_ns, samples.front().duration_ns);
  EXPECT_EQ(figures.most_ns, samples.back().duration_ns);
  EXPECT_EQ(figures.bytes, has_bytes ? bytes : 0);
  EXPECT_DOUBLE_EQ(figures.histogram.first_ns,
                   static_cast<double>(std::max<std::int64_t>(1, figures.least_ns)));
  EXPECT_DOUBLE_EQ(figures.histogram.last_ns,
                   std::max(figures.histogram.first_ns, static_cast<double>(figures.most_ns)));
  expect_bins(figures.histogram, samples);
  std::int64_t first_of_longest = INT64_MAX;
  for (const Sample& sample : samples) {
    if (sample.duration_ns == figures.most_ns) {
      first_of_longest = std::min(first_of_longest, sample.start_ns);
    }
  }
  EXPECT_EQ(figures.longest_start_ns, first_of_longest);
}

void expect_table(const RangeTable& table, const Samples& samples, bool has_bytes) {
  SCOPED_TRACE("table " + std::to_string(static_cast<int>(table.table)));
  ASSERT_EQ(table.rows.size(), samples.size());
  std::int64_t count = 0, total = 0;
  double share = 0;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const NameFigures& row = table.rows[i];
    EXPECT_LE(row.total_ns, table.rows[i > 0 ? i - 1 : 0].total_ns);
    ASSERT_TRUE(samples.contains(row.name)) << row.name;
    expect_figures(row, samples.at(row.name), has_bytes);
    count += row.count;
    if (__builtin_add_overflow(total, row.total_ns, &total)) total = INT64_MAX;
    share += row.share;
  }
  EXPECT_EQ(table.count, count);
  EXPECT_EQ(table.total_ns, total);
  if (total > 0 && total < INT64_MAX) {
    EXPECT_NEAR(share, 1, 1e-9);
  }
}

// The rows of a run as the statistics want them.
struct Calls {
  explicit Calls(const RandomRun& run) {
    for (const auto& calls : run.calls()) {
      auto& rows = rows_.emplace_back();
      auto& ids = ids_.emplace_back();
      for (const auto& [row, id] : calls) {
        rows.push_back(row);
        ids.push_back(id);
      }
    }
    for (std::size_t rank = 0; rank < rows_.size(); ++rank) {
      all.push_back({static_cast<int>(rank), rows_[rank], ids_[rank], call_text, {}});
    }
  }
  std::vector<CollectiveRows> all;

 private:
  std::vector<std::vector<Collective>> rows_;
  std::vector<std::vector<std::int64_t>> ids_;
};

const RangeTable& table_of(const RangeFigures& figures, StatisticsTable table,
                           GroupBy group_by = GroupBy::kName) {
  const auto found = std::ranges::find_if(figures.tables, [&](const RangeTable& one) {
    return one.table == table && one.group_by == group_by;
  });
  EXPECT_NE(found, figures.tables.end());
  return *found;
}

void expect_everything(const RandomRun& run, EventStore& store, const TimeRange& range) {
  const Calls calls(run);
  const auto figures = range_statistics(store, calls.all, range);
  ASSERT_TRUE(figures) << figures.error().message;
  EXPECT_EQ(figures->incomplete, "");
  EXPECT_EQ(figures->range, range);
  expect_table(table_of(*figures, StatisticsTable::kKernels),
               samples_of(run, range, EventKind::kKernel), false);
  expect_table(table_of(*figures, StatisticsTable::kOperators),
               samples_of(run, range, EventKind::kOperator), false);
  expect_table(table_of(*figures, StatisticsTable::kCopies),
               samples_of(run, range, EventKind::kCopy), true);
  expect_table(table_of(*figures, StatisticsTable::kLaunches),
               samples_of(run, range, EventKind::kLaunch), false);
  for (const auto group_by : {GroupBy::kName, GroupBy::kClass, GroupBy::kShape, GroupBy::kUnit}) {
    expect_table(table_of(*figures, StatisticsTable::kCollectives, group_by),
                 samples_of(run, range, group_by), true);
  }
}

TimeRange whole(const RandomRun& run) { return {RandomRun::kBegin, run.end_ns() + 1, {}}; }

std::unique_ptr<EventStore> store_of(const RandomRun& run, int threads = 2) {
  return *EventStore::open(run.path(), {16 << 20, threads});
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
    TimeRange range{
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
  const Calls calls(run);
  const auto figures = range_statistics(*store, calls.all, whole(run));
  ASSERT_TRUE(figures);
  const auto& chunks = *store->chunks();
  int followed = 0;
  for (const NameFigures& row : table_of(*figures, StatisticsTable::kKernels).rows) {
    ASSERT_EQ(row.longest.table, EventTableKind::kKernel);
    const auto chunk = std::ranges::find_if(chunks, [&](const ChunkEntry& one) {
      return one.rank == row.longest.rank && one.row_id == row.longest.row;
    });
    ASSERT_NE(chunk, chunks.end());
    const auto columns = store->load(*chunk);
    ASSERT_TRUE(columns);
    EXPECT_EQ((*columns)->start_ns(row.longest.index), row.longest_start_ns);
    EXPECT_EQ(std::max<std::int64_t>(0, (*columns)->duration_ns(row.longest.index)), row.most_ns);
    EXPECT_EQ(store->text(chunk->rank, (*columns)->name(row.longest.index)), row.name);
    ++followed;
  }
  EXPECT_GT(followed, 8);
  for (const NameFigures& row : table_of(*figures, StatisticsTable::kCollectives).rows) {
    EXPECT_EQ(row.longest.table, EventTableKind::kCollective);
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
  const TimeRange everything{INT64_MIN, INT64_MAX, {}};
  EXPECT_TRUE(range_statistics(*store, {}, everything)->is_whole_run);
  EXPECT_FALSE(range_statistics(*store, {}, {INT64_MIN, INT64_MAX, {0}})->is_whole_run);
  EXPECT_FALSE(range_statistics(*store, {}, {run.events()[0].event.start_ns + 1, INT64_MAX, {}})
                   ->is_whole_run);
}

TEST(RangeStatistics, DecodeOnlyChunksOfTheRange) {
  RandomRunOptions options;
  const RandomRun run(options);
  const auto store = store_of(run);
  const TimeRange nothing{run.end_ns() + 3'000'000'000, run.end_ns() + 4'000'000'000, {}};
  ASSERT_TRUE(range_statistics(*store, {}, nothing));
  EXPECT_EQ(store->decoded_chunks(), 0);
  ASSERT_TRUE(range_statistics(*store, {}, {INT64_MIN, INT64_MAX, {1}}));
  EXPECT_EQ(store->decoded_chunks(),
            options.lanes * options.commits * (kEventKindCount - 1));  // no allocations
}

TEST(RangeStatistics, GiveUpWhenNoLongerWanted) {
  const RandomRun run({});
  const auto store = store_of(run, 1);
  int asked = 0;
  const auto stopped = range_statistics(*store, {}, whole(run), [&] { return ++asked < 3; });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, ErrorKind::kFailed);
  EXPECT_EQ(asked, 3);
}

TEST(RangeStatistics, LeaveOutWhatIsDamagedAndSaySo) {
  const RandomRun run({});
  {
    auto database = Database::open(rank_file(run.path(), 1).string(), SQLITE_OPEN_READWRITE, "it");
    ASSERT_TRUE(database && database->execute("update chunk set data = zeroblob(9) where "
                                              "kind = 'kernel' and lane = 0"));
  }
  const auto store = store_of(run);
  const auto figures = range_statistics(*store, {}, whole(run));
  ASSERT_TRUE(figures);
  EXPECT_THAT(figures->incomplete, HasSubstr("rank 1, lane 0, kernel"));
  EXPECT_THAT(figures->incomplete, HasSubstr("and 5 more"));
  Samples expected;
  for (const RandomEvent& one : run.events()) {
    if (one.kind != EventKind::kKernel || (one.rank == 1 && one.lane == 0)) continue;
    expected[one.name].push_back(
        {std::max<std::int64_t>(0, one.event.duration_ns), one.event.start_ns, 0, one.rank});
  }
  expect_table(table_of(*figures, StatisticsTable::kKernels), expected, false);
}

TEST(RangeStatistics, SayWhatKernelsDo) {
  const RandomRun run({});
  const auto store = store_of(run);
  const auto figures = range_statistics(*store, {}, whole(run));
  ASSERT_TRUE(figures);
  std::map<std::string, NameFigures> rows;
  for (const auto& row : table_of(*figures, StatisticsTable::kKernels).rows) rows[row.name] = row;
  EXPECT_EQ(rows.at("sm90_xmma_gemm_bf16").kernel_class, "matrix product");
  EXPECT_EQ(rows.at("sm90_xmma_gemm_bf16").piece_class, PieceClass::kCompute);
  EXPECT_EQ(rows.at("flash_fwd_kernel").kernel_class, "attention");
  EXPECT_EQ(rows.at("ncclDevKernel_AllReduce").kernel_class, "communication");
  EXPECT_EQ(table_of(*figures, StatisticsTable::kOperators).rows[0].kernel_class, "");
  EXPECT_EQ(table_of(*figures, StatisticsTable::kOperators).rows[0].piece_class, PieceClass::kHost);
  EXPECT_EQ(table_of(*figures, StatisticsTable::kCopies).rows[0].piece_class, PieceClass::kCopy);
}

TEST(RangeStatistics, ColourACollectiveByTheGreaterPartOfItsTime) {
  const RandomRun run({});
  const auto store = store_of(run);
  const std::vector<Collective> rows = [] {
    std::vector<Collective> calls(3);
    for (Collective& call : calls) call.start_ns = RandomRun::kBegin;
    calls[0].end_ns = calls[1].end_ns = RandomRun::kBegin + 100;
    calls[2].end_ns = RandomRun::kBegin + 300;
    return calls;
  }();
  using enum PieceClass;
  const auto class_of = [&](std::vector<PieceClass> classes) {
    const CollectiveRows one{0, rows, {}, call_text, classes};
    const auto figures = range_statistics(*store, std::span(&one, 1), whole(run));
    return table_of(*figures, StatisticsTable::kCollectives, GroupBy::kClass).rows[0].piece_class;
  };
  EXPECT_EQ(class_of({kExposed, kExposed, kOverlapped}), kOverlapped);
  EXPECT_EQ(class_of({kOverlapped, kOverlapped, kExposed}), kExposed);
  EXPECT_EQ(class_of({}), kExposed);
}

}  // namespace
}  // namespace shardlens::trace
