#include <gtest/gtest.h>

#include "tests/trace/analysis/synthetic_run.h"
#include "tests/trace/units.h"
#include "trace/analysis/collectives/collective_statistics.h"
#include "trace/analysis/collectives/plan_figures.h"
#include "trace/analysis/collectives/recent_collectives.h"
#include "trace/analysis/figures/distribution.h"
#include "trace/model/traffic.h"

namespace shardlens::trace::analysis {
namespace {

TEST(Distribution, InterpolatesAsNumpyDoes) {
  const auto d = distribution_of({4, 1, 3, 2});  // numpy.quantile([1,2,3,4], …)
  EXPECT_EQ(d.count, 4);
  EXPECT_DOUBLE_EQ(d.mean, 2.5);
  EXPECT_DOUBLE_EQ(d.median, 2.5);
  EXPECT_DOUBLE_EQ(d.p10, 1.3);
  EXPECT_DOUBLE_EQ(d.p90, 3.7);
  EXPECT_DOUBLE_EQ(d.max, 4);
  EXPECT_NEAR(d.standard_deviation, 1.2909944487, 1e-9);
  EXPECT_EQ(distribution_of({}).count, 0);
  EXPECT_EQ(distribution_of({7}).standard_deviation, 0);
}

TEST(MedianAccumulator, IsExactForAFewAndCloseForMany) {
  MedianAccumulator few;
  for (double value : {9, 1, 5, 3}) few.add(value);
  EXPECT_EQ(few.median(), 4);
  MedianAccumulator forward, backward;
  constexpr int kMany = 200'001;
  for (int i = 0; i < kMany; ++i) {
    forward.add(1000 + i);
    backward.add(1000 + kMany - 1 - i);
  }
  EXPECT_NEAR(forward.median() / 101'000, 1, 1e-3);
  EXPECT_EQ(forward.median(), backward.median());
}

TEST(Traffic, FactorsAreThoseOfNcclTests) {
  EXPECT_DOUBLE_EQ(model::bus_factor(model::CollectiveFunction::kAllReduce, 4), 1.5);
  EXPECT_DOUBLE_EQ(model::bus_factor(model::CollectiveFunction::kAllGather, 4), 0.75);
  EXPECT_DOUBLE_EQ(model::bus_factor(model::CollectiveFunction::kReduceScatter, 4), 0.75);
  EXPECT_DOUBLE_EQ(model::bus_factor(model::CollectiveFunction::kBroadcast, 4), 1);
  EXPECT_DOUBLE_EQ(model::bus_factor(model::CollectiveFunction::kSend, 2), 1);
  EXPECT_DOUBLE_EQ(model::bus_factor(model::CollectiveFunction::kAllReduce, 1), 0);
  EXPECT_DOUBLE_EQ(model::sent_factor(model::CollectiveFunction::kAllReduce, 4), 1.5);
  EXPECT_DOUBLE_EQ(model::sent_factor(model::CollectiveFunction::kBroadcast, 4), 0.75);
  EXPECT_DOUBLE_EQ(model::sent_factor(model::CollectiveFunction::kReceive, 4), 0);
}

// Where no GPU was recorded: a row begins and ends with the host's call.
TEST(CollectiveStatistics, WithoutTimesThereIsNoDurationTransferOrBandwidth) {
  CollectiveStatistics statistics;
  const auto add = [&](int rank, std::int64_t sequence, std::int64_t start, std::int64_t end) {
    return statistics.add(all_reduce(rank, sequence, start, end, 25 * kMiB), "", {0, 1});
  };
  add(0, 0, 1000, 1000);
  const int row = add(1, 0, 1010, 1010);
  EXPECT_GE(row, 0);
  auto figures = statistics.figures({}).at(0);
  EXPECT_EQ(figures.count, 2);
  EXPECT_LT(figures.median_ns, 0);
  EXPECT_EQ(figures.matched, 0);
  EXPECT_EQ(figures.busbw_bytes_per_s, 0);
  EXPECT_EQ(statistics.unmatched(), 0u);
  add(0, 1, 2000, 2300);
  add(1, 1, 2000, 2300);
  figures = statistics.figures({}).at(0);
  EXPECT_EQ(figures.median_ns, 300) << "of those that are known";
  EXPECT_EQ(figures.matched, 2);
  EXPECT_EQ(statistics.add(all_reduce(0, 5, 10, 10, kMiB), "alone", {0}), row + 1);
  EXPECT_EQ(statistics.figures({}).back().median_ns, 0) << "nothing is sent";
}

TEST(CollectiveStatistics, NamesWhatNcclChoseAndAllOfItWhereItDiffers) {
  CollectiveStatistics statistics;
  const std::vector<int> members{0};
  for (const char* algorithm : {"RING", "TREE", "RING", ""}) {
    statistics.add(all_reduce(0, 0, 0, 10, kMiB, 0), "bucket 0", members, {algorithm, "SIMPLE"});
  }
  statistics.add(all_reduce(0, 1, 20, 30, kMiB, 1), "bucket 1", members);
  const auto rows = statistics.figures({});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].algorithm, "RING, TREE");
  EXPECT_EQ(rows[0].protocol, "SIMPLE");
  EXPECT_EQ(rows[1].algorithm, "") << "nobody told";
}

TEST(CollectiveStatistics, NoTransferGivesNoBandwidth) {
  CollectiveStatistics statistics;
  statistics.add(all_reduce(0, 5, 1000, 1500, 3000), "", {0, 1});
  statistics.add(all_reduce(1, 5, 1500, 1500, 3000), "", {0, 1});
  const auto row = statistics.figures({})[0];
  EXPECT_EQ(row.count, 2);
  EXPECT_EQ(row.transfer_ns, 0);
  EXPECT_EQ(row.algbw_bytes_per_s, 0);
  EXPECT_EQ(row.busbw_bytes_per_s, 0);
}

TEST(CollectiveStatistics, EachCallsBandwidthGoesByTheSizeOfItsOwnGroup) {
  CollectiveStatistics statistics;
  const auto add = [&](std::int64_t sequence, const std::vector<int>& members) {
    for (const int rank : members)
      statistics.add(all_reduce(rank, sequence, 0, kMs, 1'000'000), "", members);
  };
  for (std::int64_t sequence = 0; sequence < 10; ++sequence) add(sequence, {0, 1});
  add(10, {0, 1, 2, 3, 4, 5, 6, 7});
  const auto rows = statistics.figures({});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_DOUBLE_EQ(rows[0].algbw_bytes_per_s, 1e9);
  EXPECT_DOUBLE_EQ(rows[0].busbw_bytes_per_s, 1e9) << "of the pairs, which are most";
  for (std::int64_t sequence = 11; sequence < 20; ++sequence)
    add(sequence, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_DOUBLE_EQ(statistics.figures({})[0].busbw_bytes_per_s, 1.75e9);
}

TEST(CollectiveStatistics, CallsThatRepeatARankDoNotCompleteAGroup) {
  CollectiveStatistics statistics;
  statistics.add(all_reduce(0, 5, 1000, 2000, 64), "", {0, 1});
  statistics.add(all_reduce(0, 5, 1000, 2000, 64), "", {0, 1});
  EXPECT_EQ(statistics.unmatched(), 1u);
  EXPECT_EQ(statistics.figures({})[0].transfer_ns, 0);
}

TEST(CollectiveStatistics, BucketsComeFirstInTheirOrder) {
  CollectiveStatistics statistics;
  auto loss = all_reduce(0, 0, 1, 2, 8);
  loss.tag_kind = model::TagKind::kNamed;
  statistics.add(loss, "loss", {0});
  for (int bucket : {10, 2}) {
    statistics.add(all_reduce(0, bucket, 1, 2, 8, bucket), "bucket " + std::to_string(bucket), {0});
  }
  const auto rows = statistics.figures({});
  EXPECT_EQ(rows[0].tag, "bucket 2");
  EXPECT_EQ(rows[1].tag, "bucket 10");
  EXPECT_EQ(rows[2].tag, "loss");
}

TEST(RecentCollectives, KeepsTheLastOfEachGroupWhateverTheOrder) {
  RecentCollectives recent;
  for (std::int64_t i = 0; i < 200; ++i) {
    const auto sequence = (i * 77) % 200;
    auto row = all_reduce(0, sequence, sequence, sequence + 1, 8);
    recent.add(row);
    row.process_group = 1;
    recent.add(row);
  }
  const auto all = recent.all();
  ASSERT_EQ(all.size(), 128u);
  EXPECT_EQ(all[0].sequence, 136);
  EXPECT_EQ(all[63].sequence, 199);
  EXPECT_EQ(recent.last()->sequence, 199);
}

TEST(BucketFigures, SaysWhyABucketIsMoreThanTwiceItsCap) {
  job::Settings settings;
  BucketFigures bucket;
  bucket.index = 12;
  bucket.bytes = 168 * kMiB;
  bucket.parameters = {"h.0.ln.weight", "wte.weight"};
  bucket.parameter_bytes = {21 * kMiB, 147 * kMiB};
  EXPECT_EQ(oversize_reason(bucket, bucket_cap_bytes(settings, 12)),
            "wte.weight 147 MiB: a tensor is never split");
  settings.bucket_cap_mb = 84;
  EXPECT_EQ(oversize_reason(bucket, bucket_cap_bytes(settings, 12)), "");
  bucket.bytes = 400 * kMiB;  // of many small tensors: the plan before the rebuild
  bucket.parameter_bytes = {20 * kMiB, 20 * kMiB};
  EXPECT_EQ(oversize_reason(bucket, bucket_cap_bytes(settings, 12)), "");
}

TEST(BucketFigures, TheFirstCapIsPyTorchs) {
  job::Settings settings;
  EXPECT_EQ(bucket_cap_bytes(settings, 0), 1.0 * kMiB);
  EXPECT_EQ(bucket_cap_bytes(settings, 1), 25.0 * kMiB);
  settings.bucket_cap_mb = 60;
  EXPECT_EQ(bucket_cap_bytes(settings, 0), 60.0 * kMiB);
  settings.first_bucket_mb = 2;
  EXPECT_EQ(bucket_cap_bytes(settings, 0), 2.0 * kMiB);
}

}  // namespace
}  // namespace shardlens::trace::analysis
