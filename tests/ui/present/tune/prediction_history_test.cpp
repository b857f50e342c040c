#include "ui/present/tune/prediction_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardlens::ui::present {
namespace {

using ::testing::HasSubstr;

constexpr double kMs = 1e6;

state::LedgerRow predicted_run(const std::string& ordinal, double predicted_ms, double half_ms,
                               double measured_ms) {
  state::LedgerRow row;
  row.name = "cap of " + ordinal;
  row.folder = "/runs/" + ordinal;
  row.ordinal = ordinal;
  row.status = trace::model::RunStatus::kDone;
  row.summary.step_ns.mean = measured_ms * kMs;
  row.predicted = trace::model::StepPrediction{predicted_ms * kMs, {}, {}, "base"};
  if (half_ms > 0) {
    row.predicted->low_ns = (predicted_ms - half_ms) * kMs;
    row.predicted->high_ns = (predicted_ms + half_ms) * kMs;
  }
  return row;
}

// The newest first, as the ledger has them: 5 % more, 10 % less, exactly.
state::Ledger three_runs() {
  state::Ledger ledger;
  ledger.rows = {predicted_run("run 4", 100, 6, 105), predicted_run("run 3", 200, 10, 180),
                 predicted_run("run 2", 50, 0, 50), state::LedgerRow{}};
  return ledger;
}

std::string all_words(const PredictionHistory& history) {
  std::string all;
  for (const auto& words : history_words(history)) all += words + "\n";
  return all;
}

TEST(PredictionHistory, HoldsWhatWasMeasuredAgainstWhatWasPredicted) {
  const auto history = prediction_history(three_runs());
  ASSERT_EQ(history.tested.size(), 3u) << "one run was not predicted";
  EXPECT_EQ(history.tested[0].run, "run 2") << "the oldest first";
  EXPECT_EQ(history.tested[2].from, "base");
  EXPECT_EQ(history.with_interval, 2u);
  EXPECT_EQ(history.within, 1u);
  EXPECT_EQ(history.took_longer, 1u);
  EXPECT_NEAR(*history.median_error, 0.05, 1e-12);
  EXPECT_EQ(history.tested[*history.worst].run, "run 3");
  const std::string words = all_words(history);
  EXPECT_THAT(words, HasSubstr("3 predictions made before the run"));
  EXPECT_THAT(words, HasSubstr("1 of 2 measured step times lie within"));
  EXPECT_THAT(words, HasSubstr("1 prediction had no interval"));
  EXPECT_THAT(words, HasSubstr("−10.0 % (run 3)"));
}

TEST(PredictionHistory, BlamesNoSingleReasonWhereNoneHadAnInterval) {
  state::Ledger ledger;
  ledger.rows = {predicted_run("run 2", 50, 0, 50)};
  EXPECT_THAT(all_words(prediction_history(ledger)),
              HasSubstr("had too few steps, or steps that drift"));
}

TEST(PredictionHistory, CountsNoRunThatIsNotOverOrFailed) {
  auto ledger = three_runs();
  ledger.rows[0].status = trace::model::RunStatus::kRunning;
  ledger.rows[1].status = trace::model::RunStatus::kFailed;
  const auto history = prediction_history(ledger);
  EXPECT_EQ(history.tested.size(), 1u);
  EXPECT_EQ(history.untested, 2u);
  EXPECT_THAT(all_words(history), HasSubstr("2 predictions are of runs that go on or did not"));
}

TEST(PredictionHistory, SaysWhereThereIsNone) {
  const auto history = prediction_history(state::Ledger{});
  EXPECT_FALSE(history_chart(history));
  EXPECT_FALSE(history.median_error);
  EXPECT_THAT(all_words(history), HasSubstr("No prediction has met its run yet"));
  EXPECT_THAT(all_words(history), Not(HasSubstr("press Start"))) << "of which a terminal has none";
}

// With a chance of 95 % each, 17 of 20 or fewer happen in 8 of 100 cases, 16 or fewer in 3.
TEST(PredictionHistory, SaysWhereIntervalsPromiseTooMuch) {
  const auto words_with = [](int outside) {
    state::Ledger ledger;
    for (int i = 0; i < 20; ++i) {
      ledger.rows.push_back(predicted_run("run", 100, 5, i < outside ? 107 : 102));
    }
    return all_words(prediction_history(ledger));
  };
  EXPECT_THAT(words_with(3), Not(HasSubstr("too much")));
  EXPECT_THAT(words_with(4), HasSubstr("too much"));
}

TEST(PredictionHistory, LiesOnTheDiagonalWhereItWasRight) {
  const auto chart = history_chart(prediction_history(three_runs()));
  ASSERT_TRUE(chart);
  EXPECT_FALSE(chart->is_logarithmic) << "50 to 200 ms";
  const auto &right = chart->points[0], &less = chart->points[1], &more = chart->points[2];
  EXPECT_FLOAT_EQ(right.measured, right.predicted);
  EXPECT_FLOAT_EQ(right.error, chart->no_error);
  EXPECT_FALSE(right.has_interval);
  EXPECT_LT(less.measured, less.predicted);
  EXPECT_LT(less.error, less.error_low) << "outside of its interval";
  EXPECT_FALSE(less.is_within);
  EXPECT_GT(more.measured, more.predicted);
  EXPECT_LT(more.error, more.error_high);
  EXPECT_TRUE(more.is_within);
  EXPECT_LT(right.run, less.run);
  for (const auto& point : chart->points) {
    for (const float at : {point.measured, point.predicted, point.error, point.run}) {
      EXPECT_GT(at, 0);
      EXPECT_LT(at, 1);
    }
  }
}

TEST(PredictionHistory, ShowsAnyRangeOfStepTimes) {
  state::Ledger ledger;
  ledger.rows = {predicted_run("run 2", 5000, 100, 5000), predicted_run("run 1", 5, 0.1, 5)};
  const auto chart = history_chart(prediction_history(ledger));
  ASSERT_TRUE(chart);
  EXPECT_TRUE(chart->is_logarithmic);
  std::vector<std::string> labels;
  for (const auto& tick : chart->times) labels.push_back(tick.label);
  EXPECT_THAT(labels, ::testing::Contains("100 ms"));
  EXPECT_THAT(labels, ::testing::Contains("1 s"));
}

TEST(PredictionHistory, OneRunHasARange) {
  state::Ledger ledger;
  ledger.rows = {predicted_run("run 2", 100, 2, 100)};
  const auto chart = history_chart(prediction_history(ledger));
  ASSERT_TRUE(chart);
  EXPECT_FLOAT_EQ(chart->points[0].measured, 0.5f);
  EXPECT_GT(chart->points[0].high, chart->points[0].predicted);
}

}  // namespace
}  // namespace shardlens::ui::present
