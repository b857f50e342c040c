// What would help: its words, and what its buttons ask for.
#include "ui/tune/advice_panel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ui/testing/headless_window.h"
#include "tests/ui/testing/own_copy.h"
#include "tests/ui/testing/probe_texts.h"
#include "tests/ui/testing/sample_snapshot.h"
#include "ui/present/tune/advice_text.h"

namespace shardlens::ui::tune {

namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using trace::advice::Advice;

constexpr double kMillisecond = 1e6;

Advice cap_advice() {
  Advice advice;
  advice.rule = "bucket_cap";
  advice.title = "Lower the bucket cap to 4 MiB";
  advice.measured = "42.1 ms exposed";
  advice.why = "A step reduces 2 buckets.";
  advice.costs = "1.00 MiB more per rank.";
  advice.gain =
      trace::advice::Gain{21.4 * kMillisecond, {18.4 * kMillisecond, 24.4 * kMillisecond}};
  advice.changes = {{"bucket_cap_mb", "4"}, {"first_bucket_mb", "auto"}};
  return advice;
}

Advice straggler_advice() {
  Advice advice;
  advice.rule = "straggler";
  advice.title = "Find what makes rank 1 late in data";
  advice.measured = "costs 2.10 ms on average";
  advice.why = "Its data takes 12.0 ms, the others' 4.00 ms.";
  advice.gain_unknown = "No knob does this.";
  return advice;
}

class AdvicePanelTest : public ::testing::Test {
 protected:
  AdvicePanelTest() {
    const auto& steps = snapshot_.run->figures.steps;
    const auto shown = [&](std::size_t place) {
      const auto& step = steps[place];
      return trace::advice::Evidence{"late", step.index, 1, step.start_ns,
                                     step.start_ns + (step.end_ns - step.start_ns) / 10};
    };
    Advice cap = cap_advice(), straggler = straggler_advice();
    cap.evidence = {shown(40)};
    straggler.evidence = {shown(20), shown(30)};
    view_.folder = snapshot_.run->figures.info.folder;
    view_.advice = {cap, straggler};
    view_.looked_at = {"buckets", "memory"};
    view_.steps = 100;
    snapshot_.knobs.next = snapshot_.run->figures.info.settings;
  }
  std::vector<std::string> texts() {
    snapshot_.advice = std::make_shared<const state::AdviceView>(view_);
    ++snapshot_.version;
    window_.frames(snapshot_, 3);
    return texts_in(window_.probe(), {0, 0, 1920, 1200});
  }

  HeadlessWindow window_{1920, 1200};
  state::Snapshot snapshot_ = sample_snapshot({.live = false});
  state::AdviceView view_;
};

TEST_F(AdvicePanelTest, SaysWhatItGainsAndWhatWasMeasuredWhereThatIsNotKnown) {
  const auto shown = texts();
  EXPECT_THAT(shown, Contains("What would help · 2"));
  EXPECT_THAT(shown, Contains("Lower the bucket cap to 4 MiB"));
  EXPECT_THAT(shown, Contains(HasSubstr("saves 21.4 ms ± 3.0")));
  EXPECT_THAT(shown, Contains("costs 2.10 ms on average"));
}

TEST_F(AdvicePanelTest, SaysWhatIsNotKnownAndWhatCouldNotBeTried) {
  const auto says = [&](const char* words) { return testing::Contains(HasSubstr(words)); };
  EXPECT_THAT(texts(), says("No knob does this."));
  EXPECT_THAT(texts(), Not(says("could not be tried")));
  view_.refused = "Its trace tells no sizes.";
  EXPECT_THAT(texts(), says("Other settings could not be tried."));
  view_.advice.clear();
  EXPECT_THAT(texts(), says("Nothing that this run tells would help"));
  EXPECT_THAT(texts(), says("could not be tried"));
}

TEST_F(AdvicePanelTest, LinesDoNotBreakWithinNumbers) {
  Advice advice = straggler_advice();
  advice.why.clear();
  for (int i = 0; i < 12; ++i)
    advice.why += std::string(static_cast<std::size_t>(i), 'x') + " 1.06";
  view_.advice = {advice};
  EXPECT_THAT(texts(), Contains(HasSubstr("1.06")));
  EXPECT_THAT(texts(), Not(Contains(testing::EndsWith("1."))));
}

TEST_F(AdvicePanelTest, TryItSetsAllItsKnobs) {
  texts();
  ASSERT_TRUE(window_.click(snapshot_, "advice/bucket_cap/try"));
  std::vector<std::pair<std::string, std::string>> set;
  for (const auto& command : window_.take_commands()) {
    if (const auto* knob = std::get_if<state::SetKnob>(&command)) {
      set.emplace_back(knob->name, knob->text);
    }
  }
  const std::vector<std::pair<std::string, std::string>> both{{"bucket_cap_mb", "4"},
                                                              {"first_bucket_mb", "auto"}};
  EXPECT_EQ(set, both);
  EXPECT_FALSE(window_.click(snapshot_, "advice/straggler/try")) << "no knob does it";
}

// The next run may be of the run before, or of none that it could be compared with.
TEST_F(AdvicePanelTest, TryItTakesTheSettingsOfTheRunItSpeaksOfWhereTheNextIsAnotherJob) {
  snapshot_.knobs.next.model = "gpt2";
  snapshot_.knobs.next.bucket_cap_mb = 4;
  EXPECT_THAT(texts(), Not(Contains("Set"))) << "of another job it is not";
  ASSERT_TRUE(window_.click(snapshot_, "advice/bucket_cap/try"));
  const auto commands = window_.take_commands();
  ASSERT_EQ(commands.size(), 3u);
  const auto* settings = std::get_if<state::CopySettings>(&commands[0]);
  ASSERT_NE(settings, nullptr);
  EXPECT_EQ(settings->folder, view_.folder);
  EXPECT_TRUE(std::holds_alternative<state::SetKnob>(commands[1]));
}

// As of one rank: other changes are the user's.
TEST_F(AdvicePanelTest, TryItLeavesOtherChangesWhereNothingCanBePredicted) {
  snapshot_.prediction = std::make_shared<const state::PredictionView>(state::PredictionView{
      .folder = view_.folder, .ordinal = "run 4", .refused = "One rank reduces nothing."});
  snapshot_.knobs.next.batch_per_rank = 3;
  texts();
  ASSERT_TRUE(window_.click(snapshot_, "advice/bucket_cap/try"));
  const auto commands = window_.take_commands();
  EXPECT_EQ(HeadlessWindow::find<state::CopySettings>(commands), nullptr);
  EXPECT_NE(HeadlessWindow::find<state::SetKnob>(commands), nullptr);
  snapshot_.knobs.next.bucket_cap_mb = 4;
  EXPECT_THAT(texts(), Contains("Set"));
}

// Without them gradients come in another order, of which nothing can be predicted.
TEST_F(AdvicePanelTest, WhatAdviceSetsDoesNotMakeAnotherJob) {
  auto& run = own_copy(snapshot_.run);
  run.figures.info.settings.find_unused_parameters = true;
  Advice unused = cap_advice();
  unused.rule = "unused";
  unused.changes = {{"find_unused_parameters", "false"}};
  view_.advice.push_back(unused);
  texts();
  ASSERT_TRUE(window_.click(snapshot_, "advice/bucket_cap/try"));
  const auto commands = window_.take_commands();
  EXPECT_EQ(HeadlessWindow::find<state::CopySettings>(commands), nullptr);
  EXPECT_THAT(texts(), Contains("Set")) << "of what is set already";
}

TEST_F(AdvicePanelTest, WhatIsSetAlreadyIsNotTriedAgain) {
  snapshot_.knobs.next.bucket_cap_mb = 4;
  EXPECT_THAT(texts(), Contains("Set"));
  window_.click(snapshot_, "advice/bucket_cap/try");
  EXPECT_EQ(HeadlessWindow::find<state::SetKnob>(window_.take_commands()), nullptr);
}

TEST_F(AdvicePanelTest, ShowGoesFromOnePieceOfEvidenceToTheNext) {
  texts();
  for (const std::size_t place : {20u, 30u, 20u}) {
    ASSERT_TRUE(window_.click(snapshot_, "advice/straggler/show"));
    const auto step = window_.take<state::SelectStep>();
    ASSERT_TRUE(step);
    EXPECT_EQ(step->step, snapshot_.run->figures.steps[place].index);
  }
}

TEST_F(AdvicePanelTest, ShowZoomsToTheEvidenceOnceItsStepIsOnScreen) {
  const auto& run = *snapshot_.run;
  const std::int64_t start_ns = run.timeline->rows->start_ns;
  view_.advice[0].evidence = {
      {"tail", run.timeline->step, -1, start_ns + 20'000'000, start_ns + 60'000'000}};
  texts();
  auto& timeline = window_.view().workspace().timeline().state();
  EXPECT_TRUE(timeline.shown_window().is_fitted());
  ASSERT_TRUE(window_.click(snapshot_, "advice/bucket_cap/show"));
  window_.frames(snapshot_, 2);
  EXPECT_FALSE(timeline.shown_window().is_fitted());
  EXPECT_NEAR(static_cast<double>(timeline.shown_window().start_ns()), 10e6, 1e3);
  EXPECT_NEAR(static_cast<double>(timeline.shown_window().end_ns()), 70e6, 1e3);
}

TEST_F(AdvicePanelTest, SaysWhatWasLookedAtWhereNothingWouldHelp) {
  view_.advice.clear();
  std::string all;
  for (const auto& text : texts()) all += text + " ";
  EXPECT_THAT(all, HasSubstr("Nothing that this run tells would help"));
  EXPECT_EQ(present::no_advice_text(view_),
            "Nothing that this run tells would help. Looked at: buckets, memory");
  view_.steps = 10;
  EXPECT_THAT(present::no_advice_text(view_),
              HasSubstr(". How sure a gain is takes at least 14 steps to tell; this run has 10"));
  view_.steps = 0;
  EXPECT_EQ(present::no_advice_text(view_), "No step was measured, so nothing can be said")
      << "also of a run that is over";
}

TEST_F(AdvicePanelTest, OfAReplayNothingIsSaid) {
  snapshot_.replay.active = true;
  std::string all;
  for (const auto& text : texts()) all += text + " ";
  EXPECT_THAT(all, HasSubstr("not of one that is replayed"));
  EXPECT_FALSE(window_.click(snapshot_, "advice/bucket_cap/try"));
}

TEST_F(AdvicePanelTest, InALowWindowItIsATabOfTheDock) {
  window_.resize(1280, 720);
  texts();
  EXPECT_FALSE(window_.click(snapshot_, "advice/bucket_cap/try"));
  ASSERT_TRUE(window_.click(snapshot_, "dock/What"));
  window_.frames(snapshot_, 2);
  EXPECT_TRUE(window_.click(snapshot_, "advice/bucket_cap/try"));
}

}  // namespace

}  // namespace shardlens::ui::tune
