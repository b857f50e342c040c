#include "profiler/inject/steps/found_steps.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
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

// Layers and micro-batches repeat, too: until an optimizer shows itself, or nothing does.
class GuessedSteps : public testing::Test {
 protected:
  void guess_steps(FoundSteps::Finder& finder, int count) {
    for (int i = 0; i < count; ++i) {
      finder.begin_step(now_ns_, std::nullopt);
      finder.end_step(now_ns_ += kSecond);
    }
  }
  std::vector<std::int64_t> lengths() {
    std::vector<std::int64_t> lengths;
    for (const auto& step : run_.finish().rows.steps)
      lengths.push_back((step.end_ns - step.start_ns) / kSecond);
    return lengths;
  }

  static constexpr std::int64_t kSecond = 1'000'000'000;
  RecordedRun run_;
  FoundSteps steps_{run_.recorder()};
  FoundSteps::Finder pattern_{steps_, StepSource::kPattern}, passes_{steps_, StepSource::kPasses};
  FoundSteps::Finder kernels_{steps_, StepSource::kOptimizer};
  std::int64_t now_ns_ = kSecond;
};

TEST_F(GuessedSteps, OfWhichThereAreMoreThanAQueueHoldsAreAllTold) {
  for (int i = 0; i < 6'100; ++i) {
    passes_.begin_step(now_ns_, std::nullopt);
    passes_.end_step(now_ns_ += kSecond / 100);
  }
  steps_.finish();
  EXPECT_EQ(lengths().size(), 6'100u);
}

TEST_F(GuessedSteps, AreToldAfterAMinuteWithoutSurerOnes) {
  guess_steps(pattern_, 60);
  EXPECT_EQ(steps_.source(), StepSource::kNone);
  EXPECT_EQ(steps_.text(), "steps: none that are sure yet");
  guess_steps(pattern_, 2);
  EXPECT_EQ(steps_.source(), StepSource::kPattern);
  EXPECT_EQ(lengths(), std::vector<std::int64_t>(62, 1));
}

TEST_F(GuessedSteps, AreToldInTheEndAndOfTwoTheSurer) {
  guess_steps(pattern_, 3);
  guess_steps(passes_, 4);
  steps_.finish();
  EXPECT_EQ(steps_.source(), StepSource::kPasses);
  EXPECT_EQ(lengths().size(), 4u);
}

TEST_F(GuessedSteps, AreForgottenOnceAnOptimizerShowsItself) {
  guess_steps(passes_, 59);
  kernels_.begin_step(now_ns_, std::nullopt);
  guess_steps(passes_, 9);
  kernels_.end_step(now_ns_);
  steps_.finish();
  EXPECT_EQ(steps_.text().find("guessed"), std::string::npos);
  EXPECT_EQ(lengths(), (std::vector<std::int64_t>{9}));
}

// What is in the file stays there. Kernels are told of later than the host, which is ahead.
TEST_F(GuessedSteps, ThatWereToldAreSaidToBeGuessedOnceAnOptimizerShowsItself) {
  guess_steps(passes_, 62);
  passes_.begin_step(now_ns_, std::nullopt);
  for (const std::int64_t ago : {5, 1}) {
    kernels_.begin_step(now_ns_ - ago * kSecond, std::nullopt);
    kernels_.end_step(now_ns_ - (ago - 1) * kSecond);
  }
  now_ns_ += kSecond;
  passes_.end_step(now_ns_);
  kernels_.begin_step(now_ns_, std::nullopt);
  kernels_.end_step(now_ns_ + 7 * kSecond);
  EXPECT_NE(steps_.text().find("steps before 63: guessed"), std::string::npos) << steps_.text();
  auto expected = std::vector<std::int64_t>(62, 1);
  expected.push_back(7);
  EXPECT_EQ(lengths(), expected);
}

// Nothing was kept of what ran in them, since no step was known that should have detail.
TEST(FoundSteps, HaveNoDetailWhereTheyAreToldTooLateForTheSchedule) {
  recorder::RecorderOptions options;
  options.late_steps = true;
  options.schedule = *trace::job::parse_record_schedule("0..3");
  RecordedRun run(options);
  FoundSteps steps(run.recorder());
  steps.note_activity();
  FoundSteps::Finder pattern(steps, StepSource::kPattern);
  for (int step = 0; step < 3; ++step) {
    pattern.begin_step(100 * step + 1, std::nullopt);
    pattern.end_step(100 * step + 50);
  }
  steps.finish();
  const auto content = run.finish();
  ASSERT_EQ(content.rows.steps.size(), 3u);
  for (const auto& step : content.rows.steps) EXPECT_FALSE(step.full_detail) << step.index;
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
