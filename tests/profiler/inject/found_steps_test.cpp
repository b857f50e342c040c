#include "profiler/inject/found_steps.h"

#include <gtest/gtest.h>

#include "tests/profiler/recorded_run.h"

namespace shardlens::profiler {
namespace {

// A program that only counts the GPUs of its machine, and computes without them.
TEST(FoundSteps, HaveDetailOnceTheProgramUsesTheGpu) {
  RecordedRun run;
  FoundSteps steps(run.recorder());
  FoundSteps::Finder ranges(steps, StepSource::kRanges);
  int asked = 0;
  bool uses_gpu = false;
  steps.watch_activity([&] {
    ++asked;
    return uses_gpu;
  });
  for (int step = 0; step < 4; ++step) {
    ranges.begin_step(100 * step + 1);
    if (step == 2) uses_gpu = true;
    ranges.end_step(100 * step + 50);
  }
  EXPECT_EQ(asked, 3) << "not again once it does";
  const auto content = run.finish();
  ASSERT_EQ(content.rows.steps.size(), 4u);
  for (const trace::Step& step : content.rows.steps)
    EXPECT_EQ(step.full_detail, step.index >= 2) << step.index;
}

TEST(FoundSteps, HaveDetailOnceAKernelRan) {
  RecordedRun run;
  FoundSteps steps(run.recorder());
  FoundSteps::Finder ranges(steps, StepSource::kRanges);
  for (int step = 0; step < 2; ++step) {
    if (step == 1) steps.note_activity();
    ranges.begin_step(100 * step + 1);
    ranges.end_step(100 * step + 50);
  }
  const auto content = run.finish();
  ASSERT_EQ(content.rows.steps.size(), 2u);
  EXPECT_FALSE(content.rows.steps[0].full_detail);
  EXPECT_TRUE(content.rows.steps[1].full_detail);
}

}  // namespace
}  // namespace shardlens::profiler
