#include "trace/analysis/noise/mean_estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iterator>

#include "made_up_runs.h"
#include "trace/analysis/noise/student_t.h"

namespace shardlens::trace::analysis {
namespace {

struct Coverage {
  double covered = 0;  // share of those with an error
  double known = 0;    // share of all
  double naive = 0;    // covered if steps were taken as independent
};

Coverage coverage_of(const MadeUpNoise& noise, int steps, int trials) {
  std::mt19937_64 random(static_cast<unsigned>(steps * 100 + noise.memory * 10));
  double covered = 0, known = 0, naive = 0;
  for (int i = 0; i < trials; ++i) {
    const auto series = made_up_steps(100, noise, steps, random);
    const auto estimate = *estimate_mean(series);
    if (!estimate.has_error()) continue;
    ++known;
    const double off = std::abs(estimate.mean - 100);
    covered +=
        off <= student_t_quantile(0.05, estimate.degrees_of_freedom) * estimate.standard_error;
    double squares = 0;
    for (double value : series) squares += (value - estimate.mean) * (value - estimate.mean);
    naive += off <= 1.96 * std::sqrt(squares / steps / steps);
  }
  return {covered / known, known / trials, naive / known};
}

TEST(MeanEstimate, NinetyFivePercentIntervalsCoverInNinetyFivePercent) {
  struct Case {
    double memory;
    int steps;
  };
  for (const auto& [memory, steps] : {Case{0, 30}, Case{0, 200}, Case{0.3, 80}, Case{0.3, 500},
                                      Case{0.6, 200}, Case{0.8, 300}, Case{0.9, 1000}}) {
    const auto coverage = coverage_of({.step = 0.05, .memory = memory}, steps, 1500);
    EXPECT_GE(coverage.covered, 0.93) << memory << " " << steps;
    EXPECT_LE(coverage.covered, 0.98) << memory << " " << steps;
    EXPECT_GE(coverage.known, 0.93) << memory << " " << steps;
    if (memory >= 0.6) {
      EXPECT_LT(coverage.naive, 0.75) << "steps that depend on each other are no chance to miss";
    }
  }
}

TEST(MeanEstimate, TooFewStepsForTheirDriftHaveNoError) {
  EXPECT_FALSE(estimate_mean({}));
  EXPECT_FALSE(estimate_mean({1, 2, 3, 4, 5, 6, 7})->has_error());
  EXPECT_DOUBLE_EQ(estimate_mean({1, 2, 3, 4, 5, 6, 7})->mean, 4);
  std::vector<double> ramp;
  for (int i = 0; i < 50; ++i) ramp.push_back(i);
  EXPECT_FALSE(estimate_mean(ramp)->has_error());
  EXPECT_GT(estimate_mean(ramp)->drift, 3);
}

TEST(MeanEstimate, FourteenStepsTellAnErrorWhereNeighboursDoNotResembleEachOther) {
  std::vector<double> series;
  while (std::ssize(series) < kFewestWithError - 1) {
    series.push_back(100 + static_cast<double>(series.size() % 2));
  }
  EXPECT_FALSE(estimate_mean(series)->has_error());
  series.push_back(100);
  EXPECT_TRUE(estimate_mean(series)->has_error());
}

TEST(MeanEstimate, DriftIsStandardNormalWhereStepsAreIndependent) {
  std::mt19937_64 random(7);
  double sum = 0, squares = 0;
  constexpr int kTrials = 2000;
  for (int i = 0; i < kTrials; ++i) {
    const double drift = estimate_mean(made_up_steps(100, {}, 100, random))->drift;
    sum += drift;
    squares += drift * drift;
  }
  EXPECT_NEAR(sum / kTrials, 0, 0.1);
  EXPECT_NEAR(squares / kTrials, 1, 0.1);
}

TEST(MeanEstimate, EqualStepsHaveNoSpread) {
  const auto estimate = *estimate_mean(std::vector<double>(20, 0.1));
  EXPECT_TRUE(estimate.has_error());
  EXPECT_NEAR(estimate.standard_error, 0, 1e-15);
  EXPECT_EQ(estimate.drift, 0);
}

TEST(MeanEstimate, LongRunsAreEstimatedAsShortOnes) {
  std::mt19937_64 random(3);
  const auto series = made_up_steps(100, {.step = 0.05, .memory = 0.9}, 200'000, random);
  const auto estimate = *estimate_mean(series);
  // σ √(τ ÷ n) with τ = (1 + 0.9) ÷ (1 − 0.9).
  const double expected = 5 * std::sqrt(19.0 / 200'000);
  EXPECT_NEAR(estimate.standard_error / expected, 1, 0.15);
}

}  // namespace
}  // namespace shardlens::trace::analysis
