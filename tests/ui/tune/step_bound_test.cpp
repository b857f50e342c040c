// What bounds a step, measured or predicted: the sentence about it, and its ribbon.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/ui/testing/probe_texts.h"
#include "tests/ui/tune/prediction_fixture.h"
#include "trace/base/text.h"
#include "trace/base/time_partition.h"
#include "trace/predict/schedule/step_program.h"
#include "ui/present/tune/prediction_text.h"

namespace shardlens::ui::tune {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using trace::base::TimeClass;

// In fewer words where it has to, but never in a part of them.
TEST_F(PredictionTest, SaysWhatBoundsTheStepAsAWholeInASmallWindow) {
  const auto buckets = *view_.step;
  for (const auto& step : {buckets, waits_of_all_kinds(buckets.index, buckets.start_ns)}) {
    view_.step = step;
    publish();
    for (const auto& [width, height] : {std::pair{1280, 800}, {1600, 1000}, {1920, 1200}}) {
      window_.resize(width, height);
      window_.frames(snapshot_, 3);
      const auto lines = bound_lines();
      const std::string sentence = trace::base::joined(lines, " ");
      EXPECT_THAT(present::bound_wordings(step), Contains(sentence)) << width;
      if (width == 1920) {
        EXPECT_EQ(sentence, present::bound_text(step));
      }
      for (const std::string& overlap : overlapping_texts_of(window_.probe())) {
        for (const std::string& line : lines) EXPECT_THAT(overlap, Not(HasSubstr(line))) << width;
      }
    }
  }
}

// Before anything is changed.
TEST_F(PredictionTest, SaysWhatBoundsTheMeasuredStep) {
  view_.prediction->changes.clear();
  const auto shown = texts();
  EXPECT_THAT(shown, Contains("Bound by"));
  EXPECT_THAT(shown, Contains(HasSubstr("Backward ends with bucket 1")));
  EXPECT_THAT(shown, Not(Contains(HasSubstr("in this step"))));
}

// The rank that ends last may wait for nothing while others wait for it.
TEST_F(PredictionTest, SpeaksOfAllRanksWhereTheLastOneDoesNotWait) {
  auto step = two_buckets(3, 0);
  step.schedule.waits.clear();
  step.schedule.rank = 1;
  step.schedule.exposed_ns = 49.6 * kMs;
  EXPECT_EQ(present::bound_text(step),
            "Rank 1 ends last and waits for no collective: what it computes bounds the step. The "
            "ranks wait 49.6 ms on average, for it.");
  step.schedule.exposed_ns = 0;
  EXPECT_EQ(present::bound_text(step),
            "No rank waits for a collective: computation bounds the step.");
}

TEST_F(PredictionTest, SpeaksOfNoGradientWhereBucketsAreAskedForBehindThemAll) {
  using trace::predict::Action;
  auto step = two_buckets(3, 0);
  EXPECT_THAT(present::bound_text(step), HasSubstr("its last gradient is ready 80.0 ms"));
  step.program.micro_batches = {{0,
                                 {{Action::What::kCompute, trace::predict::Until::kEnd},
                                  {Action::What::kLaunch, trace::predict::Until::kEnd, 0},
                                  {Action::What::kLaunch, trace::predict::Until::kEnd, 1}}}};
  EXPECT_THAT(present::bound_text(step), HasSubstr("(4.00 MiB): it is asked for 80.0 ms"));
  for (auto& call : step.schedule.calls) call.ready_ns = 70 * 1'000'000;
  step.schedule.calls[0].start_ns = 70 * 1'000'000;
  step.schedule.calls[0].end_ns = 80 * 1'000'000;
  EXPECT_EQ(present::bound_text(step),
            "Reductions follow without a gap from bucket 0 (1.00 MiB), asked for at 70.0 ms, to "
            "bucket 1 (4.00 MiB), which ends 40.0 ms after that.");
}

TEST_F(PredictionTest, TheLossBehindABucketIsNotWhatBoundsAStep) {
  auto step = two_buckets(3, 0);
  step.program.calls.push_back({.what = "loss", .group = 2, .bytes = 40});
  const std::int64_t end_ns = step.schedule.end_ns;
  step.schedule.calls.push_back({2, end_ns, end_ns, end_ns + 300'000});
  step.schedule.waits.push_back({end_ns, end_ns + 300'000, 2});
  step.schedule.end_ns += 300'000;
  EXPECT_THAT(present::bound_text(step), HasSubstr("Backward ends with bucket 1 (4.00 MiB)"));
}

TEST_F(PredictionTest, NamesWhatIsWaitedForWhereItMatters) {
  auto step = two_buckets(3, 0);
  step.program.calls[0].what = "root forward gather";
  step.program.calls[1].what = "blocks.0 reduce";
  step.program.calls.push_back(step.program.calls[1]);
  step.program.calls.back().what = "gradient norm";
  const auto ms = [](double value) { return static_cast<std::int64_t>(value * kMs); };
  step.schedule.calls.push_back({2, ms(110), ms(110), ms(110.5)});
  step.schedule.waits = {{0, ms(9), 0}, {ms(80), ms(110), 1}, {ms(110), ms(110.5), 2}};
  EXPECT_EQ(present::bound_text(step),
            "Rank 0 ends last and waits 39.5 ms: 30.0 ms for reductions, 9.00 ms for forward "
            "gathers; longest for blocks.0 reduce (4.00 MiB), 30.0 ms.");
}

TEST_F(PredictionTest, SaysWhatBoundsTheStepInFewerAndFewerWords) {
  auto train = two_buckets(3, 0);
  for (auto& call : train.schedule.calls) call.ready_ns = 70 * 1'000'000;
  train.schedule.calls[0].start_ns = 70 * 1'000'000;
  train.schedule.calls[0].end_ns = 80 * 1'000'000;
  auto without_waits = two_buckets(3, 0);
  without_waits.schedule.waits.clear();
  auto others_wait = without_waits;
  others_wait.schedule.exposed_ns = 49.6 * kMs;
  auto one_wait = two_buckets(3, 0);
  one_wait.program.calls[1].what = "blocks.0 reduce";
  const auto all_kinds = waits_of_all_kinds(3, 0);
  for (const auto& step :
       {two_buckets(3, 0), train, without_waits, others_wait, one_wait, all_kinds}) {
    const auto wordings = present::bound_wordings(step);
    EXPECT_EQ(wordings.front(), present::bound_text(step));
    ASSERT_GE(wordings.size(), 2u);
    for (std::size_t i = 1; i < wordings.size(); ++i) {
      EXPECT_LT(wordings[i].size(), wordings[i - 1].size()) << wordings[i];
      EXPECT_TRUE(wordings[i].ends_with('.')) << wordings[i];
    }
    EXPECT_LT(wordings.back().size(), 60u) << "one line beside how far the end moves";
  }
  EXPECT_EQ(present::bound_wordings(two_buckets(3, 0)).back(),
            "Backward ends with bucket 1, ready at 80.0 ms.");
  EXPECT_EQ(present::bound_wordings(train).back(),
            "Reductions without a gap from bucket 0 to bucket 1.");
  EXPECT_EQ(present::bound_wordings(one_wait).back(), "Rank 0 waits 30.0 ms for reductions.");
  EXPECT_EQ(present::bound_wordings(all_kinds).back(),
            "Rank 0 waits 40.0 ms, 8.00 ms of it for reductions.");
}

TEST(PredictedRibbon, PartitionsWhatIsScheduledOfTheStep) {
  const auto pieces = present::predicted_ribbon(two_buckets(3, 0));
  const auto ms = [](double value) { return static_cast<std::int64_t>(value * kMs); };
  const std::vector<trace::analysis::ClassPiece> expected{
      {{0, ms(40)}, TimeClass::kCompute},
      {{ms(40), ms(50)}, TimeClass::kOverlapped},
      {{ms(50), ms(80)}, TimeClass::kCompute},
      {{ms(80), ms(110)}, TimeClass::kExposed}};
  EXPECT_EQ(pieces, expected);
}

}  // namespace
}  // namespace shardlens::ui::tune
