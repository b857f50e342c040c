#include "app/sweep/sweep_front.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "app/sweep/sweep_verdict.h"
#include "made_up_sweep.h"

namespace shardlens::app::sweep {
namespace {

constexpr double kMebibyte = 1 << 20, kClaims = 0.01;

// Each point in three rounds, give or take `noise`.
trace::analysis::RoundNoise noise_around(const std::vector<double>& truths, double noise,
                                         unsigned seed = 4) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<trace::analysis::RoundValue> values;
  for (std::size_t round = 0; round < 3; ++round) {
    for (std::size_t point = 0; point < truths.size(); ++point) {
      values.push_back({point, round, truths[point] * std::exp(noise * normal(random))});
    }
  }
  return trace::analysis::RoundNoise(std::move(values));
}

std::vector<FrontPoint> points_with(const std::vector<double>& mebibytes) {
  std::vector<FrontPoint> points;
  for (std::size_t i = 0; i < mebibytes.size(); ++i)
    points.push_back({i, mebibytes[i] * kMebibyte});
  return points;
}

TEST(SweepFront, HoldsWhatNoneBeatsInBothBeyondNoise) {
  // Least memory; fastest; needs more than 0 and is slower; needs more than 1 and is slower.
  const auto noise = noise_around({120, 100, 140, 110}, 0.001);
  EXPECT_EQ(front_of(points_with({40, 60, 50, 70}), noise, kClaims),
            (std::vector<bool>{true, true, false, false}));
}

// As of the same tensors in every run, but for some bytes.
TEST(SweepFront, WhatNoiseDoesNotTellFromTheFastestOfEqualMemoryIsOnIt) {
  const auto noise = noise_around({100, 100.2, 150}, 0.01);
  auto points = points_with({45.9, 45.9, 45.9});
  points[1].peak_bytes += 8;
  EXPECT_EQ(front_of(points, noise, kClaims), (std::vector<bool>{true, true, false}));
}

TEST(SweepFront, WithoutAKnownSpreadNothingIsBeatenByTimeAlone) {
  const trace::analysis::RoundNoise noise({{0, 0, 100}, {1, 0, 200}, {2, 0, 300}});
  EXPECT_EQ(front_of(points_with({40, 40, 80}), noise, kClaims),
            (std::vector<bool>{true, true, false}));
}

TEST(SweepFront, TheBestIsAlwaysOnIt) {
  std::mt19937_64 random(9);
  for (int i = 0; i < 300; ++i) {
    std::uniform_int_distribution<int> time(95, 105), memory(40, 43);
    std::vector<double> truths, mebibytes;
    for (int point = 0; point < 6; ++point) {
      truths.push_back(time(random));
      mebibytes.push_back(memory(random));
    }
    const auto noise = noise_around(truths, 0.05, static_cast<unsigned>(i));
    const auto front = front_of(points_with(mebibytes), noise, kClaims);
    std::size_t best = 0;
    for (std::size_t point = 1; point < 6; ++point) {
      if (*noise.level(point) < *noise.level(best)) best = point;
    }
    EXPECT_TRUE(front[best]) << i;
  }
}

// Memory outside PyTorch differs between runs and plays no part.
TEST(SweepFront, IsOfTensors) {
  const SweepPlan plan = made_up_plan({100, 101}, 3);
  SweepResults results;
  for (int round = 0; round < 3; ++round) {
    results[{0, round}] = measured(100 + round);
    results[{1, round}] = measured(101.5 + round * 0.2);
    results[{0, round}].measure->peak_memory_bytes = 243e6 + 1e6 * round;
    results[{1, round}].measure->peak_memory_bytes = 241e6;
  }
  auto verdict = verdict_of(plan, results);
  EXPECT_TRUE(verdict.points[0].is_on_front);
  EXPECT_TRUE(verdict.points[1].is_on_front) << "it needs as much, and nothing tells it apart";
  for (int round = 0; round < 3; ++round) {
    results[{1, round}].measure->peak_tensor_bytes = 60e6;
  }
  verdict = verdict_of(plan, results);
  EXPECT_TRUE(verdict.points[0].is_on_front);
  EXPECT_FALSE(verdict.points[1].is_on_front);
}

}  // namespace
}  // namespace shardlens::app::sweep
