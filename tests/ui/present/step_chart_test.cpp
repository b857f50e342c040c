#include "ui/present/step_chart.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace shardlens::ui::present {

namespace {

constexpr std::int64_t kMs = 1'000'000;

trace::analysis::StepFigures step(std::int64_t index, std::int64_t ms) {
  trace::analysis::StepFigures out;
  out.index = index;
  trace::analysis::StepBreakdown b;
  b.step_ns = ms * kMs;
  b.compute_ns = (ms - 30) * kMs;
  b.optimizer_compute_ns = 10 * kMs;
  b.exposed_ns = 20 * kMs;
  b.idle_ns = 10 * kMs;
  b.has_detail = true;
  out.ranks = {b};
  return out;
}

std::vector<trace::analysis::StepFigures> steps(int count, std::int64_t ms = 100) {
  std::vector<trace::analysis::StepFigures> out;
  for (int i = 0; i < count; ++i) out.push_back(step(i, ms));
  return out;
}

StepChartInput input(double width, bool follow = false) {
  StepChartInput in;
  in.width = width;
  in.follow = follow;
  return in;
}

TEST(StepChart, StacksPartsThatSumToTheStep) {
  const StepChart chart = step_chart(steps(1), input(300));
  ASSERT_EQ(chart.bars.size(), 1u);
  double sum = 0;
  for (const double part : chart.bars[0].parts_ns) sum += part;
  EXPECT_DOUBLE_EQ(sum, chart.bars[0].total_ns);
  EXPECT_DOUBLE_EQ(chart.bars[0].parts_ns[0], 60.0 * kMs) << "compute without the optimizer";
}

TEST(StepChart, FollowsTheNewestStepsOfALiveRun) {
  const StepChart chart = step_chart(steps(500), input(300, true));
  ASSERT_EQ(chart.bars.size(), 100u);
  EXPECT_EQ(chart.bars.front().step, 400);
  EXPECT_EQ(chart.bars.back().step, 499);
  EXPECT_EQ(chart.bin, 1);
}

TEST(StepChart, BinsAFinishedRunAndShowsTheSlowestStepOfEachBin) {
  auto all = steps(1000);
  all[503] = step(503, 180);
  const StepChart chart = step_chart(all, input(300));
  EXPECT_EQ(chart.bin, 10);
  ASSERT_EQ(chart.bars.size(), 100u);
  EXPECT_EQ(chart.bars[50].step, 503);
  EXPECT_EQ(chart.bars[50].last, 509);
}

TEST(StepChart, ABinIsMarkedWhereAnyOfItsStepsWasThrottled) {
  auto all = steps(1000);
  EXPECT_FALSE(step_chart(all, input(300)).has_throttled);
  all[503].throttling = {{0, 4, 20 * kMs}};
  all[507] = step(507, 180);  // the slowest of the bin was not
  const StepChart chart = step_chart(all, input(300));
  EXPECT_TRUE(chart.has_throttled);
  for (std::size_t i = 0; i < chart.bars.size(); ++i) {
    EXPECT_EQ(chart.bars[i].throttled.has_value(), i == 50) << i;
  }
}

TEST(StepChart, ABinTellsWhichOfItsStepsIsMarkedAndHowManyItHas) {
  auto all = steps(1004);
  all[507].throttling = {{0, 4, 20 * kMs}};
  all[509].nonfinite = all[510].nonfinite = true;
  all[512] = step(512, 180);
  const StepChart chart = step_chart(all, input(300));
  const auto bar = std::ranges::find(chart.bars, 512, &StepBar::step);
  ASSERT_NE(bar, chart.bars.end());
  EXPECT_EQ(bar->figure, 512u);
  EXPECT_EQ(bar->throttled, 507u);
  EXPECT_EQ(bar->nonfinite, 509u) << "the first";
  EXPECT_EQ(bar->count, 11);
  EXPECT_EQ(chart.bars.back().count, 1004 % 11);
}

TEST(StepChart, FindsBarsByPixelAndByStep) {
  const StepChart chart = step_chart(steps(1000), input(300));
  EXPECT_EQ(bar_at(chart, 0.5), 0u);
  EXPECT_EQ(bar_at(chart, 299.5), 99u);
  EXPECT_FALSE(bar_at(chart, -1).has_value());
  EXPECT_FALSE(bar_at(chart, 301).has_value());
  EXPECT_EQ(bar_of_step(chart, 507), 50u);
  EXPECT_FALSE(bar_of_step(chart, 5000).has_value());
  const StepChart newest = step_chart(steps(500), input(300, true));
  EXPECT_EQ(bar_of_step(newest, 400), 0u);
  EXPECT_FALSE(bar_of_step(newest, 399).has_value()) << "it is scrolled out";
}

TEST(StepChart, DoesNotLetOutliersOrWarmUpFlattenTheRest) {
  auto all = steps(50);
  all[0] = step(0, 5000);
  all[0].warmup = true;
  all[20] = step(20, 900);
  const StepChart chart = step_chart(all, input(300));
  EXPECT_LT(chart.top_ns, 260.0 * kMs);
  EXPECT_GT(chart.top_ns, 200.0 * kMs);
}

TEST(StepChart, KeepsTheBaselineOnTheAxis) {
  StepChartInput in = input(300);
  in.baseline_ns = 200.0 * kMs;
  EXPECT_GT(step_chart(steps(20), in).top_ns, 200.0 * kMs);
}

// One of another size, as one rank's, would leave the bars a few pixels.
TEST(StepChart, ABaselineFarAboveDoesNotFlattenTheBars) {
  StepChartInput in = input(300);
  in.baseline_ns = 900.0 * kMs;
  EXPECT_EQ(step_chart(steps(20), in).top_ns, step_chart(steps(20), input(300)).top_ns);
}

TEST(StepChart, MarksTheBaselineOfTheShownRunsJobOnly) {
  state::Ledger ledger;
  ledger.rows.resize(2);
  ledger.rows[0].is_shown = true;
  ledger.rows[1].is_baseline = true;
  EXPECT_EQ(marked_baseline(ledger), nullptr);  // its step time is not known yet
  ledger.rows[1].summary.steps_measured = 5;
  EXPECT_EQ(marked_baseline(ledger), &ledger.rows[1]);
  ledger.rows[0].not_compared = "other job";
  EXPECT_EQ(marked_baseline(ledger), nullptr);
  ledger.rows[0].is_shown = false;
  ledger.rows[1].is_shown = true;
  EXPECT_EQ(marked_baseline(ledger), nullptr);  // itself
  ledger.rows[1].is_shown = false;
  EXPECT_EQ(marked_baseline(ledger), nullptr);  // the run on screen is not of the library
}

TEST(StepChart, ShowsStepsWithoutDetailOrRanks) {
  auto all = steps(3);
  all[1].ranks[0].has_detail = false;
  all[2].ranks.clear();
  const StepChart chart = step_chart(all, input(300));
  EXPECT_FALSE(chart.bars[1].has_detail);
  EXPECT_TRUE(chart.has_detail);
  EXPECT_TRUE(chart.has_plain);
  EXPECT_FALSE(step_chart(steps(3), input(300)).has_plain);
  EXPECT_GT(chart.bars[1].total_ns, 0);
  EXPECT_EQ(chart.bars[2].total_ns, 0);
  EXPECT_TRUE(step_chart({}, input(300)).bars.empty());
}

// Not even what is known of the slowest rank: it is one step.
TEST(StepChart, OfAStepThatIsNotReadYetOnlyTheTimeIsShown) {
  auto all = steps(2);
  all[1].ranks.push_back(all[1].ranks[0]);
  all[1].ranks[1].has_detail = false;
  all[1].ranks[1].awaits_detail = true;
  const StepChart chart = step_chart(all, input(300));
  EXPECT_FALSE(chart.bars[0].awaits_detail);
  EXPECT_TRUE(chart.bars[1].awaits_detail);
  EXPECT_TRUE(chart.has_unread);
  EXPECT_FALSE(chart.has_plain);
  EXPECT_FALSE(chart.bars[1].has_detail);
  EXPECT_EQ(chart.bars[1].total_ns, 100.0 * kMs);
  for (const double part : chart.bars[1].parts_ns) EXPECT_EQ(part, 0);
}

}  // namespace

}  // namespace shardlens::ui::present
