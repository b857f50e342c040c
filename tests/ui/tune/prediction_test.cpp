// What is predicted of the next settings, in words and beside the memory measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "tests/ui/tune/prediction_fixture.h"
#include "trace/base/text.h"
#include "ui/present/memory_stack.h"
#include "ui/present/tune/knob_rows.h"
#include "ui/present/tune/prediction_text.h"

namespace shardlens::ui::tune {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using trace::tuning::Interval;

TEST_F(PredictionTest, SaysWhatTheNextRunWouldTake) {
  const auto shown = texts();
  EXPECT_THAT(shown, Contains("130.0 ms predicted, +5.0 ms ± 2.0"));
  EXPECT_THAT(shown, Contains("2 buckets · against run 4 on screen"));
  EXPECT_THAT(shown, Contains("+5.00 ms in this step"));
  EXPECT_THAT(shown, Contains("bucket_cap_mb=4"));
  EXPECT_THAT(shown, Contains(HasSubstr("Backward ends with bucket 1 (4.00 MiB)")));
  EXPECT_THAT(shown, Contains(HasSubstr("Predicted next")));
}

TEST_F(PredictionTest, StandsUnderTheMeasuredStepInTheSmallestWindowToo) {
  window_.resize(1280, 720);
  const auto shown = texts();
  EXPECT_THAT(shown, Contains("Predicted"));
  EXPECT_THAT(shown, Contains("bucket_cap_mb=4"));
  EXPECT_THAT(shown, Contains("Rank 0")) << "of the measured one";
}

// While presenting, and beside a lesson, they are folded.
TEST_F(PredictionTest, IsToldBesideTheTimelineWhereTheSettingsAreFolded) {
  auto preferences = window_.view().preferences();
  preferences.folds.knobs = true;
  window_.view().set_preferences(preferences);
  const auto shown = texts();
  EXPECT_EQ(std::ranges::count(shown, "130.0 ms predicted, +5.0 ms ± 2.0"), 1);
  EXPECT_THAT(shown, Not(Contains(HasSubstr("scroll to zoom"))));
  view_.prediction.reset();
  view_.step.reset();
  view_.refused = "One rank reduces nothing.";
  const auto refused = texts();
  EXPECT_THAT(refused, Not(Contains("No prediction"))) << "why has no room there";
  EXPECT_THAT(refused, Contains(HasSubstr("scroll to zoom")));
}

// The column of settings is as wide in every window.
TEST_F(PredictionTest, SaysAllOfWhatIsKnownOfAPrediction) {
  view_.prediction->interval = Interval{118 * kMs, 142 * kMs};
  view_.prediction->left_out = {trace::job::find_knob("record"),
                                trace::job::find_knob("precision")};
  auto ledger = *snapshot_.ledger;
  ledger.apart = 0.06;
  snapshot_.ledger = std::make_shared<const state::Ledger>(std::move(ledger));
  window_.resize(1280, 800);
  const std::string shown = trace::base::joined(texts(), " ", trace::base::trimmed);
  EXPECT_THAT(shown, HasSubstr(present::prediction_note(&view_, 0.06)->detail));
}

TEST(Assumptions, SayWhatPredictionsOnGpusWereHeldAgainst) {
  trace::tuning::Prediction prediction;
  EXPECT_TRUE(present::assumptions(prediction).empty());
  prediction.is_on_gpus = prediction.shares_gpu = true;
  EXPECT_TRUE(present::assumptions(prediction).empty());
  prediction.shares_gpu = false;
  EXPECT_THAT(present::assumptions(prediction), Contains(HasSubstr("share one H200")));
  prediction.is_of_another_program = true;
  EXPECT_THAT(present::assumptions(prediction), Contains(HasSubstr("share one H200")));
  prediction.has_units = true;
  EXPECT_THAT(present::assumptions(prediction), Contains(HasSubstr("not yet against any on GPUs")));
}

TEST(Assumptions, SpeakOfAnIntervalWhereThereIsOne) {
  trace::tuning::Prediction prediction;
  prediction.is_extrapolated = prediction.scales_computation = prediction.scales_padding = true;
  prediction.depends_on_contention = true;
  prediction.contention_range = 1;
  EXPECT_EQ(present::assumptions(prediction).size(), 4u);
  EXPECT_THAT(present::assumptions(prediction), Not(Contains(HasSubstr("interval"))));
  prediction.difference = Interval{0, 1};
  EXPECT_THAT(present::assumptions(prediction), ::testing::Each(HasSubstr("interval")));
}

TEST_F(PredictionTest, SaysThatABucketCapChangesNoBuckets) {
  view_.prediction->step_ns = view_.prediction->recorded_step_ns;
  view_.prediction->difference = Interval{0, 0};
  view_.prediction->moves_the_same = true;
  const auto shown = texts();
  EXPECT_THAT(shown, Contains("125.0 ms predicted, unchanged"));
  EXPECT_THAT(shown, Contains("the same 2 buckets · against run 4 on screen"));
}

// A step that was not read, as of a run that goes on, has no times of its own.
TEST_F(PredictionTest, NamesTheStepThatStandsForTheOneOnScreen) {
  view_.step = two_buckets(7, view_.step->start_ns + 1000);
  const std::string shown_step = std::to_string(snapshot_.run->selected_step);
  std::string all;
  for (const std::string& text : texts()) all += text + '\n';
  EXPECT_THAT(all, HasSubstr("+5.00 ms in step 7\n"));
  EXPECT_THAT(all, Not(HasSubstr("in this step")));
  EXPECT_THAT(all, HasSubstr("Of step 7, a typical one, since step " + shown_step + " was not "));
  EXPECT_THAT(all, HasSubstr("\nstep 7\n")) << "beside its ribbon";
}

// One is of what the change does, the other of what the next run will measure.
TEST_F(PredictionTest, SaysWhatEachIntervalIsOf) {
  view_.prediction->interval = Interval{118 * kMs, 142 * kMs};
  const auto note = *present::prediction_note(&view_, {});
  EXPECT_EQ(note.title, "130.0 ms predicted, +5.0 ms ± 2.0");
  EXPECT_THAT(note.detail,
              HasSubstr("± is of the difference; the run's own mean: 118.0 to 142.0 ms "
                        "(95 %)"));
  const auto value_of = [&](const char* name) {
    for (const auto& row : note.rows) {
      if (row.name == name) return row.value;
    }
    return std::string();
  };
  EXPECT_EQ(value_of("Difference, 95 %"), "+3.00 ms to +7.00 ms");
  EXPECT_EQ(value_of("Next mean, 95 %"), "118.0 to 142.0 ms");
}

// 250 ms for twice the samples are 125 ms for as many as before.
TEST_F(PredictionTest, SaysWhatASampleTakesWhereAStepHasMoreOfThem) {
  view_.prediction->step_ns = 240 * kMs;
  view_.prediction->difference.reset();
  view_.prediction->samples = view_.prediction->tokens = 2;
  EXPECT_THAT(present::prediction_note(&view_, {})->detail,
              HasSubstr("2 buckets · −4.0 % per sample · against run 4 on screen"));
  view_.prediction->samples = 1;
  EXPECT_THAT(present::prediction_note(&view_, {})->detail, HasSubstr("−4.0 % per token"));
}

TEST_F(PredictionTest, SaysOverWhichLinkOtherRanksAreTakenToBe) {
  const auto is_said = [&] {
    const auto notes = present::assumptions(*view_.prediction);
    return std::ranges::any_of(
        notes, [](const std::string& note) { return note.find("nodes=N") != note.npos; });
  };
  EXPECT_FALSE(is_said());
  view_.prediction->keeps_link_of_other_ranks = true;
  EXPECT_TRUE(is_said());
}

TEST_F(PredictionTest, SaysNothingOfSettingsAsTheyAre) {
  view_.prediction->changes.clear();
  for (const std::string& text : texts()) EXPECT_THAT(text, Not(HasSubstr("redicted")));
}

TEST_F(PredictionTest, SaysWhyThereIsNone) {
  view_.prediction.reset();
  view_.step.reset();
  view_.curves.clear();
  view_.refused = "One rank reduces nothing.";
  const auto shown = texts();
  EXPECT_THAT(shown, Contains("No prediction"));
  EXPECT_THAT(shown, Contains("One rank reduces nothing."));
}

TEST_F(PredictionTest, SaysOfARunThatHasBegunThatItIsNotKnownYet) {
  view_.prediction.reset();
  view_.step.reset();
  view_.curves.clear();
  view_.refused = "The run is starting.";
  view_.may_come = true;
  const auto shown = texts();
  EXPECT_THAT(shown, Contains("No prediction yet"));
  EXPECT_THAT(shown, Contains("The run is starting."));
}

// In a narrow column: what to do stands at the end.
TEST_F(PredictionTest, SaysWhatToDoAboutALongRefusal) {
  view_.prediction.reset();
  view_.step.reset();
  view_.curves.clear();
  view_.refused =
      "No step of the run tells on all ranks when each gradient was ready, which a prediction "
      "needs. A trace of DDP by PyTorch's profiler does, with its step() called once per step.";
  std::string shown;
  for (const std::string& line : texts()) shown += line + ' ';
  EXPECT_THAT(shown, HasSubstr(view_.refused));
}

const trace::job::Knob* knob(const char* name) { return trace::job::find_knob(name); }

TEST_F(PredictionTest, ListsAllChangesUnderTheTimeline) {
  view_.prediction->changes.push_back({knob("overlap_comm"), "true", "false", false});
  view_.prediction->changes.push_back({knob("first_bucket_mb"), "1", "4", true});
  view_.prediction->left_out = {knob("record")};
  view_.prediction->without_effect = {knob("learning_rate")};
  const auto shown = texts();
  EXPECT_THAT(shown, Contains("bucket_cap_mb=4 · overlap_comm=false · first_bucket_mb=4 (follows) "
                              "· without record: effect not known · learning_rate: no effect on "
                              "the step"));
  EXPECT_THAT(present::prediction_note(&view_, {})->detail,
              HasSubstr("Without record, whose effect is not known"));
}

TEST_F(PredictionTest, SaysOfNoEffectThatThereIsNone) {
  view_.prediction->changes.clear();
  view_.prediction->without_effect = {knob("learning_rate")};
  view_.prediction->step_ns = view_.prediction->recorded_step_ns;
  const auto shown = texts();
  EXPECT_THAT(shown, Contains("No effect on the step"));
  EXPECT_THAT(shown, Contains("No effect on the step: learning_rate."));
}

// Memory is worked out for all changes, also where the time is not.
TEST_F(PredictionTest, WithNothingKnownSaysWhyAndShowsTheMemory) {
  view_.prediction->changes.clear();
  view_.prediction->left_out = {knob("precision")};
  view_.refused = "What precision does cannot be predicted.";
  const auto shown = texts();
  EXPECT_THAT(shown, Contains("No prediction"));
  EXPECT_THAT(shown, Contains("What precision does cannot be predicted."));
  EXPECT_THAT(shown, Contains(HasSubstr("Predicted next")));
}

TEST_F(PredictionTest, SaysWhyADifferenceHasNoInterval) {
  view_.prediction->difference.reset();
  view_.prediction->steps = 10;
  EXPECT_THAT(present::prediction_note(&view_, {})->detail,
              HasSubstr("How sure that is takes at least 14 steps to tell; this run has 10"));
  view_.prediction->steps = 30;
  EXPECT_THAT(present::prediction_note(&view_, {})->detail,
              HasSubstr("Its steps drift too much to tell how sure that is"));
}

// The sample's change is of 4 %.
TEST_F(PredictionTest, SaysWhereTwoRunsDifferByAsMuchByChance) {
  const auto ledger_of = [&](double apart) {
    auto ledger = *snapshot_.ledger;
    ledger.apart = apart;
    return std::make_shared<const state::Ledger>(std::move(ledger));
  };
  snapshot_.ledger = ledger_of(0.06);
  std::string shown;
  for (const std::string& line : texts()) shown += line + ' ';
  EXPECT_THAT(
      shown,
      HasSubstr("Two runs of the same settings differ by more than that by chance, up to 7.50 ms"));
  snapshot_.ledger = ledger_of(0.03);
  EXPECT_THAT(texts(), Not(Contains(HasSubstr("Less than two runs"))));
  EXPECT_THAT(present::prediction_note(&view_, 0.03)->rows,
              Contains(Field(&present::PredictionNote::Row::value, "± 3.75 ms")));
}

TEST(FoldedLines, FoldNothingThatHasRoom) {
  const auto fits = [](const std::string& text) { return text.size() <= 17; };
  EXPECT_THAT(present::folded_lines({"a=1", "b=2", "c=3"}, 1, fits),
              ::testing::ElementsAre("a=1 · b=2 · c=3"));
}

TEST(FoldedLines, FoldWhatHasNoRoom) {
  const auto fits = [](const std::string& text) { return text.size() <= 14; };
  EXPECT_THAT(present::folded_lines({"a=1", "b=2"}, 2, fits), ::testing::ElementsAre("a=1 · b=2"));
  EXPECT_THAT(present::folded_lines({"long_name=1", "b=2", "c=3"}, 2, fits),
              ::testing::ElementsAre("long_name=1", "b=2 · c=3"));
  EXPECT_THAT(present::folded_lines({"long_name=1", "other_name=2", "c=3", "d=4"}, 2, fits),
              ::testing::ElementsAre("long_name=1", "other_name=2 +2 more"));
  EXPECT_THAT(present::folded_lines({}, 2, fits), ::testing::IsEmpty());
}

TEST(PredictedUnits, ThatTheProgramKeepsAreNamed) {
  trace::tuning::Prediction prediction;
  prediction.is_of_another_program = true;
  EXPECT_EQ(present::assumptions(prediction).size(), 1u);
  prediction.kept_units.recorded = {"norm, output"};
  EXPECT_THAT(present::assumptions(prediction),
              Contains(HasSubstr("norm, output stays gathered for backward, as in the recorded")));
  prediction.kept_units.are_all = true;
  EXPECT_THAT(present::assumptions(prediction),
              Contains(HasSubstr("All units stay gathered for backward, as norm, output does")));
  prediction.kept_units = {.recorded = {}, .are_all = false, .are_untold = true};
  EXPECT_THAT(present::assumptions(prediction),
              Contains(HasSubstr("would keep some all the same")));
}

TEST(PredictedMemory, IsAsMeasuredAndWhatTheEstimatesDiffer) {
  present::MemoryStacks stacks;
  stacks.bars = {{.rank = 0, .parts = {}, .peak = 316.0 * kMib}};
  stacks.top = 316.0 * kMib;
  trace::tuning::Prediction prediction;
  prediction.peaks = {{0, 100 * kMib, 104 * kMib}};
  add_predicted(stacks, prediction);
  EXPECT_EQ(predicted_note(stacks.bars[0]), "") << "nothing changes";
  prediction.changes = {{&cap_knob(), "1", "4", false}};
  add_predicted(stacks, prediction);
  EXPECT_EQ(predicted_note(stacks.bars[0]), "Predicted next: 320 MiB, +4.00 MiB");
  EXPECT_DOUBLE_EQ(stacks.top, 320.0 * kMib);
}

}  // namespace
}  // namespace shardlens::ui::tune
