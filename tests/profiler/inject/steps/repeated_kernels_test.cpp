#include "profiler/inject/steps/repeated_kernels.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/profiler/inject/told_steps.h"

namespace shardlens::profiler::inject {
namespace {

using Names = std::vector<std::uint32_t>;

// Forward of so many layers, a loss, backward of as many, something at the end.
Names one_step(int layers, int forward, int backward) {
  Names names;
  for (int layer = 0; layer < layers; ++layer)
    for (int i = 0; i < forward; ++i) names.push_back(static_cast<std::uint32_t>(10 + i % 5));
  names.push_back(1);
  for (int layer = 0; layer < layers; ++layer)
    for (int i = 0; i < backward; ++i) names.push_back(static_cast<std::uint32_t>(30 + i % 7));
  names.insert(names.end(), {2, 3, 2});
  return names;
}

Names repeated(const Names& names, int times) {
  Names all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), names.begin(), names.end());
  return all;
}

TEST(RepeatLength, IsThatOfAStepAndNotOfItsLayers) {
  for (const int layers : {1, 3, 12, 48}) {
    const Names step = one_step(layers, 14, 25);
    EXPECT_EQ(repeat_length(repeated(step, 4)), step.size()) << layers;
  }
}

TEST(RepeatLength, WithstandsAFewKernelsThatDiffer) {
  const Names step = one_step(12, 14, 25);
  Names names = repeated(step, 6);
  std::mt19937 random(7);
  for (std::size_t i = 0; i < names.size() / 50; ++i)
    names[random() % names.size()] = 100 + static_cast<std::uint32_t>(random() % 9);
  EXPECT_EQ(repeat_length(names), step.size());
}

TEST(RepeatLength, IsNoneWithoutARepetition) {
  std::mt19937 random(3);
  Names names;
  for (int i = 0; i < 3000; ++i) names.push_back(static_cast<std::uint32_t>(random() % 40));
  EXPECT_EQ(repeat_length(names), 0u);
  EXPECT_EQ(repeat_length(one_step(12, 14, 25)), 0u);
  EXPECT_EQ(repeat_length({}), 0u);
}

class RepeatedKernelsTest : public testing::Test {
 protected:
  // Each kernel takes 9 of 10 µs.
  void run(const Names& names) {
    for (const std::uint32_t name : names) {
      kernels_.add(name, time_, time_ + 9'000);
      time_ += 10'000;
    }
  }
  void wait() { time_ += 50'000; }

  test::ToldSteps told_;
  RepeatedKernels kernels_{told_};
  std::int64_t time_ = 0;
};

TEST_F(RepeatedKernelsTest, FindsStepsAsSoonAsThereAreEnough) {
  const Names step = one_step(12, 40, 80);  // 1444 kernels
  run(Names(600, 5));                       // set-up
  for (int i = 0; i < 5; ++i) {
    wait();
    run(step);
  }
  EXPECT_TRUE(told_.steps.empty());
  for (int i = 0; i < 7; ++i) {
    wait();
    run(step);
  }
  ASSERT_TRUE(kernels_.has_found_steps());
  kernels_.finish();
  ASSERT_EQ(told_.steps.size(), 12u);
  const std::int64_t length = static_cast<std::int64_t>(step.size()) * 10'000 + 50'000;
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(told_.steps[i].start_ns, 6'050'000 + static_cast<std::int64_t>(i) * length) << i;
    const std::int64_t next = told_.steps[i].start_ns + length;
    // The last ends with its own last kernel.
    EXPECT_EQ(told_.steps[i].end_ns, i < 11 ? next : next - 51'000) << i;
  }
}

TEST_F(RepeatedKernelsTest, AnEvaluationEndsAStepAndTheNextIsFoundAgain) {
  const Names step = one_step(12, 20, 40);  // 724 kernels
  for (int i = 0; i < 14; ++i) {
    wait();
    run(step);
  }
  ASSERT_TRUE(kernels_.has_found_steps());
  run(Names(3000, 77));
  const std::int64_t back_ns = time_ + 50'000;
  for (int i = 0; i < 2; ++i) {
    wait();
    run(step);
  }
  kernels_.finish();
  ASSERT_EQ(told_.steps.size(), 16u);
  const auto length = static_cast<std::int64_t>(step.size()) * 10'000;
  EXPECT_EQ(told_.steps[13].end_ns - told_.steps[13].start_ns, length - 1'000);
  EXPECT_EQ(told_.steps[14].start_ns, back_ns);
}

TEST_F(RepeatedKernelsTest, AShortRecordingIsLookedAtInTheEnd) {
  const Names step = one_step(3, 30, 60);  // 274 kernels
  for (int i = 0; i < 6; ++i) {
    wait();
    run(step);
  }
  EXPECT_TRUE(told_.steps.empty());
  kernels_.finish();
  EXPECT_EQ(told_.steps.size(), 6u);
}

TEST_F(RepeatedKernelsTest, WhatRepeatsWithinAMillisecondIsNoStep) {
  for (int i = 0; i < 2000; ++i) run({1, 2, 3, 4, 5, 6});
  kernels_.finish();
  EXPECT_TRUE(told_.steps.empty());
}

}  // namespace
}  // namespace shardlens::profiler::inject
