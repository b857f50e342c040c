#include "trace/predict/costs/gpu_turns.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace shardlens::trace::predict {
namespace {

using Function = model::CollectiveFunction;

constexpr CollectiveKind kSummed{Function::kAllReduce, 2};
constexpr CollectiveKind kGathered{Function::kAllGather, 2};
constexpr CollectiveKind kScattered{Function::kReduceScatter, 2};
constexpr double kMiByte = 1024.0 * 1024.0;

std::vector<double> about(double ms) { return {ms * 1e6, ms * 1.001e6, ms * 0.999e6, ms * 1e6}; }

// Two ranks of gpt-162m that shared an H200: caps of 25, 4 and 1 MiB, and units.
const MeasuredCollectives kCap25{{kSummed,
                                  {{4, {2.4e6, 2.4e6, 2.4e6, 2.4e6}},
                                   {3 * kMiByte, about(4.52)},
                                   {27.038 * kMiByte, about(18.05)},
                                   {147.375 * kMiByte, about(85.74)}}}};
const MeasuredCollectives kCap1{{kSummed,
                                 {{2.259 * kMiByte, about(4.53)},
                                  {6.759 * kMiByte, about(4.58)},
                                  {9.009 * kMiByte, about(8.93)},
                                  {147.375 * kMiByte, about(85.62)}}}};
const MeasuredCollectives kUnits{
    {kGathered, {{27.038 * kMiByte, about(9.03)}, {297.756 * kMiByte, about(85.84)}}},
    {kScattered, {{27.038 * kMiByte, about(8.05)}, {297.756 * kMiByte, about(85.46)}}}};

double ms(const MeasuredCollectives& run, CollectiveKind kind, double mib) {
  const auto turns = GpuTurns::find(run);
  if (!turns) return 0;
  const auto cost = turns->of(kind, mib * kMiByte);
  return cost ? cost->ns / 1e6 : 0;
}

TEST(GpuTurns, OfLargeBucketsTellWhatSmallOnesTookBesideTheSameComputation) {
  EXPECT_NEAR(ms(kCap25, kSummed, 9.009), 9.02, 0.1) << "a cap of 4 MiB";
  EXPECT_NEAR(ms(kCap25, kSummed, 6.759), 4.58, 0.1) << "a cap of 1 MiB";
  EXPECT_NEAR(ms(kCap1, kSummed, 27.038), 18.05, 0.2);
}

TEST(GpuTurns, AreTheSameForWhatSendsAsMuch) {
  EXPECT_NEAR(ms(kCap25, kGathered, 27.038), 9.03, 0.1);
  const auto open = GpuTurns::find(kCap25)->of(kScattered, 297.756 * kMiByte);
  EXPECT_NEAR(open->ns / 1e6, 85.46, open->unsure_ns / 1e6 + 1) << "19 or 20 rounds";
  EXPECT_NEAR(ms(kUnits, kSummed, 27.038), 18.05, 0.2) << "though some began within a slice";
}

TEST(GpuTurns, HoldWhatTheirSizesLeaveOpen) {
  const auto turns = GpuTurns::find(kCap25);
  ASSERT_TRUE(turns);
  // A round moves 7.76 to 8.19 MiB.
  EXPECT_EQ(turns->of(kSummed, 7.7 * kMiByte)->unsure_ns, 0);
  EXPECT_EQ(turns->of(kSummed, 8.2 * kMiByte)->unsure_ns, 0);
  const auto open = turns->of(kSummed, 8 * kMiByte);
  EXPECT_NEAR(open->ns, 1.5 * 4.5e6, 0.1e6);
  EXPECT_NEAR(open->unsure_ns, 0.5 * 4.5e6, 0.1e6);
  EXPECT_TRUE(open->is_extrapolated);
}

TEST(GpuTurns, TellNothingOfWhatMayBeOverWithinASlice) {
  EXPECT_FALSE(GpuTurns::find(kCap25)->of(kSummed, 4));
}

TEST(GpuTurns, AreNotFoundWhereTimesAreNoMultiplesOfOne) {
  const MeasuredCollectives link{{kSummed,
                                  {{2 * kMiByte, about(3)},
                                   {8 * kMiByte, about(7.5)},
                                   {25 * kMiByte, about(10.5)},
                                   {60 * kMiByte, about(16)}}}};
  EXPECT_FALSE(GpuTurns::find(link));
}

TEST(GpuTurns, AreNotFoundInTimesThatVaryOrOfTooFewSizes) {
  MeasuredCollectives varies = kCap25;
  varies[kSummed][27.038 * kMiByte] = {9e6, 18e6, 27e6, 18e6};
  EXPECT_FALSE(GpuTurns::find(varies));
  MeasuredCollectives few = kCap25;
  few[kSummed].erase(3 * kMiByte);
  EXPECT_FALSE(GpuTurns::find(few));
}

// Slices, what goes through in one and sizes are made up; sizes that were left out are told.
TEST(GpuTurns, OfMadeUpSlicesAreFound) {
  std::mt19937 random(11);
  int found = 0, wrong = 0;
  for (int i = 0; i < 200; ++i) {
    std::uniform_real_distribution<double> slice(1, 6), moves(2, 20), size(1, 60);
    const double round_ms = slice(random), bytes = moves(random) * kMiByte;
    const auto takes = [&](double s) { return std::ceil(s / bytes) * round_ms; };
    MeasuredCollectives run;
    for (int k = 0; k < 4; ++k) {
      const double s = size(random) * kMiByte;
      run[kSummed][s] = about(takes(s));
    }
    const double asked = run[kSummed].begin()->first * 1.7;
    const auto turns = GpuTurns::find(run);
    const auto cost = turns ? turns->of(kSummed, asked) : std::nullopt;
    if (!cost) continue;
    ++found;
    const double beyond = std::abs(cost->ns / 1e6 - takes(asked)) - cost->unsure_ns / 1e6;
    if (beyond > 0.02 * takes(asked)) ++wrong;
  }
  EXPECT_GT(found, 100);
  EXPECT_LE(wrong, 0.03 * found) << "where every size takes an even number of rounds, say";
}

}  // namespace
}  // namespace shardlens::trace::predict
