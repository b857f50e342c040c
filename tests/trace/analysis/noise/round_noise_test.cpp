#include "trace/analysis/noise/round_noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace shardlens::trace::analysis {
namespace {

TEST(RoundNoise, TakesTheDriftFromRoundToRoundOut) {
  const double points[] = {100, 104, 120}, drift[] = {1, 1.3, 0.8, 1.1};
  std::vector<RoundValue> values;
  for (std::size_t round = 0; round < 4; ++round) {
    for (std::size_t point = 0; point < 3; ++point) {
      values.push_back({point, round, points[point] * drift[round]});
    }
  }
  const RoundNoise noise(values);
  EXPECT_NEAR(*noise.level(1) / *noise.level(0), 1.04, 1e-9);
  EXPECT_NEAR(*noise.level(2) / *noise.level(0), 1.2, 1e-9);
  EXPECT_NEAR(*noise.mean_difference(1, 0), 0.04, 1e-9);
  EXPECT_NEAR(noise.within_rounds().deviation, 0, 1e-9);
  EXPECT_EQ(noise.within_rounds().degrees_of_freedom, 12 - 3 - 4 + 1);
  EXPECT_GT(noise.between_runs().deviation, 0.1);  // which the drift is part of
  EXPECT_EQ(noise.between_runs().degrees_of_freedom, 12 - 3);
}

// Round 1 is slow, and point 1 was not in it: by their plain means the two would change places.
TEST(RoundNoise, HoldsAPointThatIsNotInEveryRoundAgainstThoseBesideIt) {
  const RoundNoise noise({{0, 0, 100}, {0, 1, 200}, {1, 0, 110}});
  EXPECT_NEAR(*noise.level(1) / *noise.level(0), 1.1, 1e-9);
  EXPECT_NEAR(*noise.mean_difference(1, 0), 0.1, 1e-9);
}

TEST(RoundNoise, ALevelIsThePointsGeometricMeanWhereNothingIsMissing) {
  const RoundNoise noise({{0, 0, 100}, {0, 1, 400}, {1, 0, 90}, {1, 1, 500}});
  EXPECT_NEAR(*noise.level(0), 200, 1e-9);
  EXPECT_NEAR(*noise.level(1), std::sqrt(90 * 500.), 1e-9);
  EXPECT_NEAR(*RoundNoise({{0, 0, 150}}).level(0), 150, 1e-9);
}

// Round 2 has 0 and 1 alone. The difference of 2 is that of the fit, and its error at most that of
// the rounds which have both.
TEST(RoundNoise, TheDifferencesOfLevelsAndTheirBoundsAreOnOneBasis) {
  std::mt19937_64 random(8);
  std::normal_distribution<double> normal;
  constexpr int kSweeps = 2000;
  constexpr double kClaims = 0.025;
  int beyond = 0;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    std::vector<RoundValue> values;
    for (std::size_t round = 0; round < 3; ++round) {
      const double drift = std::exp(0.2 * normal(random));
      for (std::size_t point = 0; point < (round < 2 ? 3 : 2); ++point) {
        values.push_back({point, round, 100 * drift * std::exp(0.02 * normal(random))});
      }
    }
    const RoundNoise noise(values);
    const auto difference = noise.difference(2, 0, kClaims);
    ASSERT_TRUE(difference);
    EXPECT_NEAR(difference->mean, *noise.level(2) / *noise.level(0) - 1, 1e-9);
    beyond += difference->low > 0 || difference->high < 0;
  }
  EXPECT_LE(beyond, kSweeps * 2 * kClaims + 20);
  EXPECT_GT(beyond, kSweeps * kClaims / 2);
}

TEST(RoundNoise, BetweenRunsIsTheSpreadAroundEachPointsMean) {
  const RoundNoise noise(
      {{0, 0, std::exp(1.0)}, {0, 1, std::exp(1.2)}, {1, 0, std::exp(3.0)}, {1, 1, std::exp(3.4)}});
  const double squares = 2 * 0.1 * 0.1 + 2 * 0.2 * 0.2;
  EXPECT_NEAR(noise.between_runs().deviation, std::sqrt(squares / 2), 1e-9);
  EXPECT_EQ(noise.between_runs().degrees_of_freedom, 2);
  // 12.7 would be t with one degree of freedom, 4.303 is that with two.
  EXPECT_NEAR(*noise.half_width(0), 4.303 * std::sqrt(squares / 2) / std::sqrt(2), 1e-3);
}

// By t of 95 % for 2 degrees of freedom, 4.303, and of √(1/3 + 1/1) runs; a fit would shift levels.
TEST(RoundNoise, WithoutRoundsTakesNoDriftOut) {
  const std::vector<RoundValue> values{{0, 0, 100}, {0, 1, 200}, {0, 2, 200}, {1, 0, 110}};
  const RoundNoise noise(values, Rounds::kNone);
  EXPECT_NEAR(*noise.level(0), std::cbrt(4e6), 1e-9);
  EXPECT_NEAR(*noise.level(1), 110, 1e-9);
  EXPECT_GT(std::abs(*RoundNoise(values).level(1) - 110), 1) << "with them it does";
  const auto& spread = noise.within_rounds();
  EXPECT_DOUBLE_EQ(spread.degrees_of_freedom, 2);
  EXPECT_DOUBLE_EQ(spread.deviation, noise.between_runs().deviation);
  const auto difference = noise.difference(0, 1, 0.025);
  ASSERT_TRUE(difference);
  EXPECT_NEAR(difference->mean, std::cbrt(4e6) / 110 - 1, 1e-9);
  EXPECT_NEAR(std::log1p(difference->high) - std::log1p(difference->mean),
              4.303 * spread.deviation * std::sqrt(4.0 / 3), 1e-3);
}

TEST(RoundNoise, KnowsNoBoundsFromOneRound) {
  const RoundNoise noise({{0, 0, 100}, {1, 0, 300}});
  EXPECT_NEAR(*noise.mean_difference(1, 0), 2, 1e-9);
  EXPECT_FALSE(noise.difference(1, 0, 0.05));
  EXPECT_FALSE(noise.half_width(0));
  EXPECT_FALSE(noise.level(2));
  EXPECT_FALSE(noise.mean_difference(2, 0));
  EXPECT_FALSE(RoundNoise({}).level(0));
}

TEST(RoundNoise, TheTruthLiesBeyondABoundAsOftenAsItSaysWhateverTheDrift) {
  constexpr int kSweeps = 4000;
  constexpr double kClaims = 0.025, kTruth = 0.03;
  std::mt19937_64 random(20);
  std::normal_distribution<double> normal;
  int below = 0, above = 0;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    std::vector<RoundValue> values;
    for (std::size_t round = 0; round < 3; ++round) {
      const double drift = std::exp(0.2 * normal(random));
      for (std::size_t point = 0; point < 4; ++point) {
        const double truth = point == 1 ? 100 * (1 + kTruth) : 100;
        values.push_back({point, round, truth * drift * std::exp(0.02 * normal(random))});
      }
    }
    const auto difference = RoundNoise(values).difference(1, 0, kClaims);
    ASSERT_TRUE(difference);
    below += kTruth < difference->low;
    above += kTruth > difference->high;
  }
  // Expected are 100 of each; the standard deviation is 10.
  EXPECT_NEAR(below, kSweeps * kClaims, 40);
  EXPECT_NEAR(above, kSweeps * kClaims, 40);
}

}  // namespace
}  // namespace shardlens::trace::analysis
