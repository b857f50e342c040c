#include "ui/inspect/tabs/step_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/ui/inspect/testing/sample_tables.h"
#include "tests/ui/inspect/testing/shown_cells.h"
#include "trace/analysis/steps/step_breakdown.h"
#include "trace/model/gpu_counter_names.h"

namespace shardlens::ui::inspect {

namespace {

TEST(StepTable, ShowsTheSlowestRanksPartsAndMarksWhatStandsOut) {
  const state::Snapshot snapshot = tables_snapshot();
  const auto table = step_table(snapshot.run);
  const auto& steps = snapshot.run->figures.steps;
  ASSERT_EQ(table->rows, steps.size());
  const auto slow = slow_steps(steps);
  std::vector<std::int64_t> marked;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const trace::analysis::StepBreakdown& b =
        steps[i].ranks[static_cast<std::size_t>(steps[i].slowest_rank)];
    EXPECT_EQ(shown(*column_named(*table, "Time"), i), time_text(b.step_ns));
    EXPECT_EQ(shown(*column_named(*table, "Exposed"), i),
              b.has_detail ? time_text(b.exposed_ns) : "");
    EXPECT_EQ(column_named(*table, "Step")->cell(i).is_marked, steps[i].nonfinite);
    EXPECT_EQ(column_named(*table, "Step")->cell(i).tone,
              steps[i].warmup ? state::Tone::kMuted : state::Tone::kText);
    EXPECT_EQ(column_named(*table, "Time")->cell(i).is_marked, slow[i]);
    if (slow[i]) marked.push_back(steps[i].index);
  }
  EXPECT_THAT(marked, testing::ElementsAre(37, 96)) << "the two that the sample makes slow";
}

TEST(StepTable, SaysWhatHeldTheClocksDownWhereAnythingDid) {
  const state::Snapshot snapshot = tables_snapshot();
  EXPECT_EQ(column_named(*step_table(snapshot.run), "Throttled"), nullptr);
  auto run = std::make_shared<state::RunView>(*snapshot.run);
  run->figures.steps[5].throttling = {{0, trace::model::kLimitPowerCap, 30'000'000},
                                      {3, trace::model::kLimitSoftwareThermal, 90'000'000}};
  const auto table = step_table(run);
  const present::TableColumn* throttled = column_named(*table, "Throttled");
  EXPECT_EQ(throttled->cell(5).text, "power cap, thermal slowdown");
  EXPECT_EQ(throttled->csv(5), "rank 3: thermal slowdown for 90 ms; rank 0: power cap for 30 ms");
  EXPECT_EQ(throttled->number(5), 90e6) << "sorted by the longest";
  EXPECT_EQ(throttled->cell(4).text, "");
}

TEST(StepTable, HasNoPhasesWhereTheHostToldNone) {
  const auto table_with = [](std::int64_t forward_ns) {
    auto run = std::make_shared<state::RunView>(*tables_snapshot().run);
    for (auto& step : run->figures.steps) {
      for (auto& rank : step.ranks) {
        rank.phase_ns = {};
        rank.phase_ns[static_cast<std::size_t>(trace::base::Phase::kForward)] = forward_ns;
        rank.phase_ns[static_cast<std::size_t>(trace::base::Phase::kOther)] =
            rank.step_ns - forward_ns;
      }
    }
    return step_table(run);
  };
  EXPECT_NE(column_named(*table_with(1'000), "Forward"), nullptr);
  EXPECT_NE(column_named(*table_with(1'000), "Other"), nullptr);
  EXPECT_EQ(column_named(*table_with(0), "Forward"), nullptr);
  EXPECT_EQ(column_named(*table_with(0), "Other"), nullptr);
}

TEST(StepTable, StacksThePartsOfAStepToItsTime) {
  const state::Snapshot snapshot = tables_snapshot();
  const auto& steps = snapshot.run->figures.steps;
  const auto table = step_table(snapshot.run);
  const present::TableColumn* stack = column_named(*table, "Where it went");
  ASSERT_NE(stack, nullptr);
  double longest = 0;
  for (const auto& step : steps) {
    if (!step.warmup) longest = std::max(longest, static_cast<double>(step.shown().step_ns));
  }
  int checked = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    double sum = 0;
    for (const auto& [piece_class, share] : stack->cell(i).parts) sum += share;
    const trace::analysis::StepBreakdown& b = steps[i].shown();
    if (!b.has_detail) {
      EXPECT_EQ(sum, 0);
    } else {
      EXPECT_NEAR(sum, static_cast<double>(b.step_ns) / longest, 0.001) << steps[i].index;
      ++checked;
    }
  }
  EXPECT_GT(checked, 50);
}

// Nanosecond by nanosecond: the optimizer computes from 40 to 80, communication lasts from 30
// to 60.
TEST(StepTable, CountsTheOptimizerUnderCommunicationOnce) {
  using trace::base::TimeClass;
  std::map<TimeClass, int> expected;
  for (int at = 0; at < 100; ++at) {
    const bool compute = at < 35 || (at >= 40 && at < 80), communication = at >= 30 && at < 60;
    ++expected[compute && communication ? TimeClass::kOverlapped
               : communication          ? TimeClass::kExposed
               : !compute               ? TimeClass::kIdle
               : at >= 40               ? TimeClass::kOptimizer
                                        : TimeClass::kCompute];
  }
  trace::analysis::StepActivity activity;
  activity.step = {0, 100};
  activity.full_detail = true;
  activity.compute = {{0, 35}, {40, 80}};
  activity.communication = {{30, 60}};
  activity.phases = {{40, 80, trace::base::Phase::kOptimizer}};
  auto run = std::make_shared<state::RunView>();
  run->figures.steps.resize(1);
  run->figures.steps[0].ranks = {trace::analysis::break_down(activity)};
  run->figures.steps[0].slowest_rank = 0;
  const auto table = step_table(run);
  const present::TableColumn* stack = column_named(*table, "Where it went");
  ASSERT_NE(stack, nullptr);
  std::map<TimeClass, int> found;
  for (const auto& [piece_class, share] : stack->cell(0).parts) {
    found[piece_class] += static_cast<int>(std::lround(share * 100));
  }
  EXPECT_EQ(found, expected);
}

TEST(StepTable, LeavesThePartsOfAStepEmptyThatIsNotReadYet) {
  const state::Snapshot snapshot = tables_snapshot();
  auto run = std::make_shared<state::RunView>(*snapshot.run);
  auto& steps = run->figures.steps;
  const auto other = static_cast<std::size_t>(steps[7].slowest_rank == 0 ? 1 : 0);
  steps[7].ranks.at(other).has_detail = false;
  steps[7].ranks.at(other).awaits_detail = true;
  const auto table = step_table(run);
  for (const char* title : {"Compute", "Exposed", "Idle"}) {
    EXPECT_EQ(shown(*column_named(*table, title), 7), "") << title;
    EXPECT_NE(shown(*column_named(*table, title), 8), "") << title;
  }
  EXPECT_NE(shown(*column_named(*table, "Time"), 7), "");
  EXPECT_TRUE(column_named(*table, "Where it went")->cell(7).parts.empty());
}

TEST(StepTable, SurvivesStepsThatNobodyReported) {
  auto run = std::make_shared<state::RunView>();
  run->figures.steps.resize(3);
  run->figures.steps[1].ranks.resize(2);
  run->figures.steps[2].slowest_rank = 7;
  const auto table = step_table(run);
  for (const present::TableColumn& column : table->columns) {
    for (std::size_t row = 0; row < 3; ++row) column.cell(row);
  }
  EXPECT_EQ(present::csv_of(*table, present::table_order(*table, {}, "")).substr(0, 4), "step");
}

}  // namespace

}  // namespace shardlens::ui::inspect
