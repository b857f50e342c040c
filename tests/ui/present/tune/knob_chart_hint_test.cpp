// What is said of choices: of each its predicted time, and of a surely faster one that it is.
#include <gtest/gtest.h>

#include "ui/present/tune/knob_chart.h"

namespace shardlens::ui::tune {
namespace {

using trace::tuning::Interval;

constexpr double kNsPerMs = 1e6;

const trace::job::Knob& prefetch() { return *trace::job::find_knob("forward_prefetch"); }

// False takes 100 ms, as measured, true by `difference` more.
state::Snapshot with_choices(std::optional<Interval> difference, bool fits = true) {
  state::Snapshot snapshot;
  state::PredictionView view;
  view.ordinal = "run 4";
  trace::tuning::KnobCurve curve{&prefetch(), 100 * kNsPerMs};
  const double mean = difference ? (difference->low_ns + difference->high_ns) / 2 : -20 * kNsPerMs;
  curve.points = {{"false", 0, 100 * kNsPerMs, std::nullopt, true},
                  {"true", 0, 100 * kNsPerMs + mean, difference, fits}};
  view.choices = {curve};
  snapshot.prediction = std::make_shared<const state::PredictionView>(std::move(view));
  return snapshot;
}

TEST(ChoiceHint, NamesAValueThatIsSurelyFaster) {
  const auto hint =
      present::choice_hint(with_choices(Interval{-25 * kNsPerMs, -15 * kNsPerMs}), prefetch());
  ASSERT_TRUE(hint);
  EXPECT_EQ(hint->value, "true");
  EXPECT_EQ(hint->text.substr(0, 6), "true: ");
}

TEST(ChoiceHint, IsSilentWhereThatIsNotSureOrDoesNotFit) {
  EXPECT_FALSE(
      present::choice_hint(with_choices(Interval{-25 * kNsPerMs, 5 * kNsPerMs}), prefetch()));
  EXPECT_FALSE(present::choice_hint(with_choices(std::nullopt), prefetch()));
  EXPECT_FALSE(present::choice_hint(with_choices(Interval{-25 * kNsPerMs, -15 * kNsPerMs}, false),
                                    prefetch()));
  EXPECT_FALSE(
      present::choice_hint(with_choices(Interval{15 * kNsPerMs, 25 * kNsPerMs}), prefetch()));
  EXPECT_FALSE(present::choice_hint(state::Snapshot{}, prefetch())) << "nothing is predicted";
}

// How sure that is, the slower one's interval tells.
TEST(ChoiceHint, NamesWhatWasRecordedWhereTheOtherIsSurelySlower) {
  const auto hint_with = [](const Interval& difference) {
    auto snapshot = with_choices(difference);
    EXPECT_TRUE(trace::job::set_value(snapshot.knobs.next, "forward_prefetch", "true"));
    return present::choice_hint(snapshot, prefetch());
  };
  const auto hint = hint_with({15 * kNsPerMs, 25 * kNsPerMs});
  ASSERT_TRUE(hint);
  EXPECT_EQ(hint->text, "false: −20.0 ms ± 5.0");
  EXPECT_FALSE(hint_with({-5 * kNsPerMs, 25 * kNsPerMs}));
}

// The lowest mean is not sure, another value is.
TEST(ChoiceHint, NamesTheSurestRatherThanTheFastest) {
  state::Snapshot snapshot;
  const trace::job::Knob& knob = *trace::job::find_knob("backward_prefetch");
  ASSERT_TRUE(trace::job::set_value(snapshot.knobs.next, knob.name, "none"));
  state::PredictionView view;
  trace::tuning::KnobCurve curve{&knob, 100 * kNsPerMs};
  curve.points = {
      {"none", 0, 100 * kNsPerMs, std::nullopt, true},
      {"pre", 0, 80 * kNsPerMs, Interval{-50 * kNsPerMs, 10 * kNsPerMs}, true},
      {"post", 0, 90 * kNsPerMs, Interval{-12 * kNsPerMs, -8 * kNsPerMs}, true},
  };
  view.choices = {curve};
  snapshot.prediction = std::make_shared<const state::PredictionView>(std::move(view));
  const auto hint = present::choice_hint(snapshot, knob);
  ASSERT_TRUE(hint);
  EXPECT_EQ(hint->text, "post: −10.0 ms ± 2.0");
}

TEST(ChoiceHint, OfValuesThatTakeAsLongNamesTheOneThatIsAdvised) {
  const trace::job::Knob& knob = *trace::job::find_knob("communication_hook");
  const Interval faster{-12 * kNsPerMs, -8 * kNsPerMs};
  trace::tuning::KnobCurve curve{&knob, 100 * kNsPerMs};
  curve.points = {{"none", 0, 100 * kNsPerMs, std::nullopt, true},
                  {"fp16_compress", 0, 90 * kNsPerMs, faster, true},
                  {"bf16_compress", 0, 90 * kNsPerMs, faster, true}};
  state::PredictionView view;
  view.choices = {curve};
  state::Snapshot snapshot;
  snapshot.prediction = std::make_shared<const state::PredictionView>(std::move(view));
  EXPECT_EQ(present::choice_hint(snapshot, knob)->value, "fp16_compress");
  trace::advice::Advice compression;
  compression.changes = {{"communication_hook", "bf16_compress"}};
  state::AdviceView advice;
  advice.advice = {compression};
  snapshot.advice = std::make_shared<const state::AdviceView>(std::move(advice));
  EXPECT_EQ(present::choice_hint(snapshot, knob)->value, "bf16_compress");
}

// Both differ from what was recorded, each as surely as its own interval says.
TEST(ChoiceHint, ClaimsNoIntervalOfTheDifferenceBetweenTwoPredictions) {
  auto snapshot = with_choices(Interval{-3 * kNsPerMs, -1 * kNsPerMs});
  auto view = *snapshot.prediction;
  auto& now = view.choices.front().points.front();
  now.step_ns = 150 * kNsPerMs;
  now.difference = Interval{10 * kNsPerMs, 90 * kNsPerMs};
  snapshot.prediction = std::make_shared<const state::PredictionView>(view);
  const auto hint = present::choice_hint(snapshot, prefetch());
  ASSERT_TRUE(hint);
  EXPECT_EQ(hint->text, "true: −52.0 ms");
}

TEST(ChoiceHint, TellsTheTimeOfEachChoice) {
  const auto snapshot = with_choices(Interval{-25 * kNsPerMs, -15 * kNsPerMs});
  const auto* now = present::predicted_choice(snapshot, prefetch(), "false");
  const auto* other = present::predicted_choice(snapshot, prefetch(), "true");
  ASSERT_TRUE(now != nullptr && other != nullptr);
  EXPECT_EQ(present::choice_text(snapshot, prefetch(), *now), "100.0 ms, as measured");
  EXPECT_NE(present::choice_text(snapshot, prefetch(), *other).find("against run 4"),
            std::string::npos);
  EXPECT_EQ(present::predicted_choice(snapshot, prefetch(), "maybe"), nullptr);
}

}  // namespace
}  // namespace shardlens::ui::tune
