#include "profiler/inject/steps/range_steps.h"

#include <gtest/gtest.h>

#include "tests/profiler/inject/told_steps.h"

namespace shardlens::profiler::inject {
namespace {

// Opens and closes ranges, one unit of time after the other.
class RangeStepsTest : public testing::Test {
 protected:
  void open(const char* name) { steps_.opened(name, depth_++, time_++); }
  void close() { steps_.closed(--depth_, time_++); }
  void range(const char* name) {
    open(name);
    close();
  }

  test::ToldSteps told_, guessed_;
  RangeSteps steps_{told_, guessed_};
  int depth_ = 0;
  std::int64_t time_ = 0;
};

TEST_F(RangeStepsTest, ARangeThatNamesAStepIsOne) {
  for (int i = 0; i < 2; ++i) {
    open(("step " + std::to_string(i)).c_str());
    range("forward");
    range("backward");
    range("optimizer.step");
    close();
  }
  EXPECT_EQ(told_.ended(), "0-7 8-15");
  EXPECT_EQ(told_.steps[1].number, 1);
  EXPECT_EQ(told_.phases_text(),
            "forward 1-2 backward 3-4 optimizer 5-6 forward 9-10 backward 11-12 optimizer 13-14");
}

TEST_F(RangeStepsTest, PhasesInsideOthersAreNotPhases) {
  open("step 0");
  open("forward");
  range("backward of a custom op");
  range("inner step");
  close();
  close();
  EXPECT_EQ(told_.ended(), "0-7");
  EXPECT_EQ(told_.phases_text(), "forward 1-6");
}

TEST_F(RangeStepsTest, WithoutThemAStepBeginsAfterTheOptimizer) {
  range("zero_grad");  // 0-1: an optimizer's, but nothing was computed yet
  for (int i = 0; i < 3; ++i) {
    for (const char* name : {"forward", "backward", "forward", "backward", "optimizer.step"})
      range(name);
  }
  // The first step is only known to have been one when it has ended.
  EXPECT_EQ(told_.ended(), "12-22");
  steps_.finish();
  EXPECT_EQ(told_.ended(), "12-22 22-31");  // the last ends with its last range
}

TEST_F(RangeStepsTest, WithoutAnOptimizerEveryForwardAfterABackwardIsAGuessInTheEnd) {
  for (int i = 0; i < RangeSteps::kCyclesWithoutOptimizer; ++i) {
    range("forward");
    range("backward");
  }
  EXPECT_EQ(guessed_.steps.size(), 0u);
  range("forward");
  range("backward");
  range("forward");
  EXPECT_EQ(guessed_.ended(), "32-36");
  EXPECT_EQ(told_.steps.size(), 0u);
  EXPECT_EQ(told_.phases.size(), 2u * RangeSteps::kCyclesWithoutOptimizer + 3);
}

// As with ranges of steps that begin after a warm-up.
TEST_F(RangeStepsTest, ARangeThatNamesAStepTakesThePlaceOfGuesses) {
  for (int i = 0; i <= RangeSteps::kCyclesWithoutOptimizer; ++i) {
    range("forward");
    range("backward");
  }
  ASSERT_EQ(guessed_.steps.size(), 1u);
  for (const char* step : {"step 10", "step 11", "step 12"}) {
    open(step);
    for (const char* name : {"forward", "backward", "scheduler step", "forward", "backward"})
      range(name);
    close();
  }
  steps_.finish();
  EXPECT_EQ(told_.ended(), "48-59 60-71") << "the first shows that such ranges are steps";
  EXPECT_EQ(told_.steps.at(0).number, 11);
  EXPECT_EQ(guessed_.steps.size(), 3u);
  EXPECT_EQ(guessed_.ended(), "32-37 37-43") << "the third was open";
}

TEST_F(RangeStepsTest, ARangeThatNamesAStepAndTrainsNothingLeavesTheGuesses) {
  const auto pass = [this] {
    range("forward");
    range("backward");
  };
  for (int i = 0; i <= RangeSteps::kCyclesWithoutOptimizer; ++i) pass();
  ASSERT_EQ(guessed_.steps.size(), 1u);
  for (int i = 0; i < 9; ++i) {
    pass();
    range("log step");
    open("test step 0");
    range("forward");
    close();
  }
  steps_.finish();
  EXPECT_TRUE(told_.steps.empty());
  EXPECT_GE(guessed_.steps.size(), 10u);
}

TEST_F(RangeStepsTest, ManyMicroBatchesAreOneStep) {
  for (int step = 0; step < 3; ++step) {
    for (int batch = 0; batch < 2 * RangeSteps::kCyclesWithoutOptimizer; ++batch) {
      range("forward");
      range("backward");
    }
    range("optimizer.step");
  }
  EXPECT_EQ(guessed_.steps.size(), 8u) << "until the first optimizer";
  steps_.finish();
  EXPECT_EQ(told_.ended(), "66-132 132-197");
}

// As DeepSpeed's, which is called after each micro-batch: the optimizer's works after the last.
TEST_F(RangeStepsTest, AnEnginesStepIsAnUpdateWhereAnOptimizersLiesWithin) {
  for (int step = 0; step < 3; ++step) {
    for (int batch = 0; batch < 2; ++batch) {
      range("DeepSpeedEngine.forward");
      range("DeepSpeedEngine.backward");
      open("DeepSpeedEngine.step");
      if (batch == 1) range("DeepSpeedZeroOptimizer_Stage3.step");
      close();
    }
  }
  steps_.finish();
  EXPECT_EQ(told_.ended(), "14-28 28-41");
  EXPECT_EQ(guessed_.steps.size(), 0u);
  EXPECT_EQ(told_.phases_text().substr(0, 47), "forward 0-1 backward 2-3 optimizer 4-5 forward ");
}

TEST_F(RangeStepsTest, AnEnginesStepAloneTellsNoStep) {
  for (int i = 0; i <= RangeSteps::kCyclesWithoutOptimizer; ++i) {
    for (const char* name : {"engine.forward", "engine.backward", "engine.step"}) range(name);
  }
  EXPECT_TRUE(told_.steps.empty());
  EXPECT_EQ(guessed_.steps.size(), 1u) << "it may be a micro-batch";
}

TEST_F(RangeStepsTest, WhatASchedulerDoesIsNoStep) {
  for (int i = 0; i < 3; ++i) {
    for (const char* name : {"forward", "backward", "optimizer.step", "scheduler.step"})
      range(name);
  }
  steps_.finish();
  EXPECT_EQ(told_.ended(), "8-16 16-23");
}

TEST_F(RangeStepsTest, SeveralForwardsBeforeABackwardAreAllForward) {
  for (const char* name : {"forward", "forward", "backward", "optimizer.step"}) range(name);
  EXPECT_EQ(told_.phases_text(), "forward 0-1 forward 2-3 backward 4-5 optimizer 6-7");
}

TEST_F(RangeStepsTest, AnEvaluationBetweenStepsIsInNone) {
  open("step 0");
  close();
  range("validation");
  open("step 1");
  close();
  EXPECT_EQ(told_.ended(), "0-1 4-5");
  EXPECT_EQ(told_.phases_text(), "evaluation 2-3");
}

TEST_F(RangeStepsTest, AStepThatNeverEndedIsNotTold) {
  open("step 0");
  close();
  open("step 1");
  steps_.finish();
  EXPECT_EQ(told_.ended(), "0-1");
}

}  // namespace
}  // namespace shardlens::profiler::inject
