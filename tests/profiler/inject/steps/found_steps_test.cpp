#include "profiler/inject/steps/found_steps.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "tests/profiler/recorded_run.h"

namespace shardlens::profiler::inject {
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
    ranges.begin_step(100 * step + 1, std::nullopt);
    if (step == 2) uses_gpu = true;
    ranges.end_step(100 * step + 50);
  }
  EXPECT_EQ(asked, 3) << "not again once it does";
  const auto content = run.finish();
  ASSERT_EQ(content.rows.steps.size(), 4u);
  for (const trace::model::Step& step : content.rows.steps)
    EXPECT_EQ(step.full_detail, step.index >= 2) << step.index;
}

// A training that was resumed; one that begins each epoch with 0.
TEST(FoundSteps, AreCountedFromTheNumberOfTheFirst) {
  for (const auto& numbers : {std::vector<std::optional<std::int64_t>>{5000, 5001, 5002},
                              {5000, 0, 1},
                              {5000, std::nullopt, std::nullopt}}) {
    RecordedRun run;
    FoundSteps steps(run.recorder());
    FoundSteps::Finder ranges(steps, StepSource::kRanges);
    std::int64_t time_ns = 0;
    for (const auto& number : numbers) {
      ranges.begin_step(time_ns += 100, number);
      ranges.end_step(time_ns += 100);
    }
    std::vector<std::int64_t> told;
    for (const auto& step : run.finish().rows.steps) told.push_back(step.index);
    EXPECT_EQ(told, (std::vector<std::int64_t>{5000, 5001, 5002}));
  }
}

TEST(FoundSteps, HaveDetailOnceAKernelRan) {
  RecordedRun run;
  FoundSteps steps(run.recorder());
  FoundSteps::Finder ranges(steps, StepSource::kRanges);
  for (int step = 0; step < 2; ++step) {
    if (step == 1) steps.note_activity();
    ranges.begin_step(100 * step + 1, std::nullopt);
    ranges.end_step(100 * step + 50);
  }
  const auto content = run.finish();
  ASSERT_EQ(content.rows.steps.size(), 2u);
  EXPECT_FALSE(content.rows.steps[0].full_detail);
  EXPECT_TRUE(content.rows.steps[1].full_detail);
}

// Warm-up in one stream, then replays of a CUDA graph in another.
TEST(FoundSteps, GoOnInAnotherStreamOnceTheFirstIsSilent) {
  RecordedRun run;
  FoundSteps steps(run.recorder());
  FoundSteps::Finder first(steps, StepSource::kOptimizer), second(steps, StepSource::kOptimizer);
  const auto step = [](FoundSteps::Finder& finder, std::int64_t end_ns) {
    finder.end_phase(end_ns);
    finder.end_step(end_ns);
    finder.begin_step(end_ns, std::nullopt);
    finder.begin_phase(trace::base::Phase::kForward, end_ns);
  };
  for (const std::int64_t end_ns : {100, 200, 300}) step(first, end_ns);
  for (const std::int64_t end_ns : {400, 500, 600, 700}) step(second, end_ns);
  const auto content = run.finish();
  ASSERT_EQ(content.rows.steps.size(), 5u);
  EXPECT_EQ(content.rows.steps[2].start_ns, 300) << "with what led into the replays";
  EXPECT_EQ(content.rows.steps[2].end_ns, 500);
  EXPECT_EQ(content.rows.steps[4].end_ns, 700);
  EXPECT_EQ(content.rows.spans.size(), 5u);
}

TEST(FoundSteps, AreNotThoseOfAnotherStreamWhileTheFirstGoesOn) {
  RecordedRun run;
  FoundSteps steps(run.recorder());
  FoundSteps::Finder first(steps, StepSource::kOptimizer), second(steps, StepSource::kOptimizer);
  FoundSteps::Finder pattern(steps, StepSource::kPattern);
  for (std::int64_t start_ns = 100; start_ns < 600; start_ns += 100) {
    first.begin_step(start_ns, std::nullopt);
    second.begin_step(start_ns + 10, std::nullopt);
    pattern.begin_step(start_ns + 20, std::nullopt);
    pattern.begin_step(start_ns + 30, std::nullopt);
    first.end_step(start_ns + 90);
  }
  const auto content = run.finish();
  ASSERT_EQ(content.rows.steps.size(), 5u);
  EXPECT_EQ(content.rows.steps[4].start_ns, 500);
}

// As DeepSpeed's ZeRO does, which marks its phases: the kernels' first step begins in one of them.
TEST(FoundSteps, EndThePhasesOfThoseWhoAreNotBelieved) {
  using trace::base::Phase;
  RecordedRun run;
  FoundSteps steps(run.recorder());
  FoundSteps::Finder ranges(steps, StepSource::kRanges), kernels(steps, StepSource::kOptimizer);
  ranges.begin_phase(Phase::kForward, 150);
  kernels.begin_step(100, std::nullopt);  // reported later than the host, which is ahead
  kernels.begin_phase(Phase::kForward, 100);
  ranges.end_phase(170);
  kernels.end_phase(180);
  kernels.begin_phase(Phase::kBackward, 180);
  kernels.end_phase(190);
  kernels.end_step(190);
  EXPECT_EQ(run.recorder().phase(), Phase::kOther) << "none is open";
  const auto content = run.finish();
  ASSERT_EQ(content.rows.spans.size(), 3u);
  EXPECT_EQ(content.rows.spans[0].end_ns, 150) << "cut short, never turned round";
  for (const trace::model::Span& span : content.rows.spans) EXPECT_EQ(span.depth, 0);
  EXPECT_EQ(content.rows.spans[1].phase, Phase::kForward);
  EXPECT_EQ(content.rows.spans[1].end_ns, 180);
  EXPECT_EQ(content.rows.spans[2].phase, Phase::kBackward);
}

}  // namespace
}  // namespace shardlens::profiler::inject
