// What is predicted of the next settings: its words, the curve behind the slider, the step under
// the measured one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/ui/testing/headless_window.h"
#include "tests/ui/testing/probe_texts.h"
#include "tests/ui/testing/sample_snapshot.h"
#include "trace/base/text.h"
#include "ui/present/format.h"
#include "ui/present/memory_stack.h"
#include "ui/present/tune/changed_list.h"
#include "ui/present/tune/knob_chart.h"
#include "ui/present/tune/prediction_text.h"

namespace shardlens::ui::tune {

namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using trace::base::TimeClass;
using trace::tuning::Interval;

constexpr double kMs = 1e6;
constexpr std::int64_t kMib = 1 << 20;

const trace::job::Knob& cap_knob() { return *trace::job::find_knob("bucket_cap_mb"); }

// Two buckets of 10 and 30 ms: under computation from 40 ms on, and after it, which ends at 80 ms.
// The rank that ends last waits for the second.
// Then 20 ms as recorded, where the first was 5 ms shorter.
trace::tuning::PredictedStep two_buckets(std::int64_t index, std::int64_t start_ns) {
  const auto at = [&](double ms) { return start_ns + static_cast<std::int64_t>(ms * kMs); };
  trace::tuning::PredictedStep step;
  step.index = index;
  step.start_ns = start_ns;
  step.recorded_end_ns = at(125);
  step.end_ns = at(130);
  const auto bucket = [](const char* what, std::int64_t bytes, std::size_t tensors) {
    return trace::predict::PlannedCall{.what = what,
                                       .function = trace::model::CollectiveFunction::kAllReduce,
                                       .group = 2,
                                       .bytes = bytes,
                                       .tensors = tensors};
  };
  step.program.calls = {bucket("bucket 0", kMib, 3), bucket("bucket 1", 4 * kMib, 5)};
  step.schedule.start_ns = start_ns;
  step.schedule.backward_end_ns = step.schedule.end_ns = at(110);
  step.schedule.calls = {{0, at(40), at(40), at(50)}, {1, at(80), at(80), at(110)}};
  step.schedule.waits = {{at(80), at(110), 1}};
  return step;
}

// Five of 10 ms, of which the rank that ends last waits for 8 each: a sentence of many words.
trace::tuning::PredictedStep waits_of_all_kinds(std::int64_t index, std::int64_t start_ns) {
  trace::tuning::PredictedStep step = two_buckets(index, start_ns);
  step.program.calls.clear();
  step.schedule.calls.clear();
  step.schedule.waits.clear();
  std::int64_t at_ns = start_ns;
  for (const char* what : {"blocks.10 forward gather, prefetched", "blocks.11 backward gather",
                           "blocks.11 reduce", "gradient norm", "loss"}) {
    const std::size_t place = step.program.calls.size();
    step.program.calls.push_back({.what = what, .group = 2, .bytes = 12 * kMib});
    const std::int64_t end_ns = at_ns + static_cast<std::int64_t>(10 * kMs);
    step.schedule.calls.push_back({place, at_ns, at_ns, end_ns});
    step.schedule.waits.push_back({at_ns + static_cast<std::int64_t>(2 * kMs), end_ns, place});
    at_ns = end_ns + static_cast<std::int64_t>(10 * kMs);
  }
  return step;
}

class PredictionTest : public ::testing::Test {
 protected:
  PredictionTest() {
    snapshot_.knobs.next = snapshot_.run->figures.info.settings;
    snapshot_.knobs.next.bucket_cap_mb = 4;
    auto& prediction = view_.prediction.emplace();
    prediction.changes = {{&cap_knob(), "1", "4", false}};
    prediction.parts = 2;
    prediction.recorded_step_ns = 125 * kMs;
    prediction.step_ns = 130 * kMs;
    prediction.difference = Interval{3 * kMs, 7 * kMs};
    for (int rank : {0, 1}) prediction.peaks.push_back({rank, 100 * kMib, 104 * kMib});
    const auto& run = *snapshot_.run;
    const auto shown = std::ranges::find(run.figures.steps, run.selected_step,
                                         &trace::analysis::StepFigures::index);
    view_.step = two_buckets(run.selected_step, shown->start_ns);
    view_.ordinal = "run 4";
    trace::tuning::KnobCurve curve{&cap_knob(), 125 * kMs};
    curve.points = {{"1", 1, 125 * kMs, std::nullopt, true},
                    {"2", 2, 120 * kMs, Interval{-8 * kMs, -2 * kMs}, true},
                    {"4", 4, 130 * kMs, Interval{3 * kMs, 7 * kMs}, true}};
    view_.curves = {curve};
  }
  void publish() {
    view_.measured = present::measured_runs(*snapshot_.ledger, snapshot_.knobs.next);
    snapshot_.prediction = std::make_shared<const state::PredictionView>(view_);
    ++snapshot_.version;
  }
  std::vector<std::string> texts() {
    publish();
    window_.frames(snapshot_, 3);
    return texts_in(window_.probe(), {0, 0, 1920, 1200});
  }
  // Under the predicted ribbon, of the last frame.
  std::vector<std::string> bound_lines() const {
    std::vector<std::string> lines;
    const auto& all = window_.probe().texts;
    auto at = std::ranges::find(all, "+5.00 ms in this step", &kit::DrawProbe::Text::text);
    if (at == all.end()) return lines;
    for (++at; at != all.end() && at->text != "Changed"; ++at) {
      lines.emplace_back(trace::base::trimmed(at->text));
    }
    return lines;
  }

  HeadlessWindow window_{1920, 1200};
  state::Snapshot snapshot_ = sample_snapshot({.live = false});
  state::PredictionView view_;
};

TEST_F(PredictionTest, SaysWhatTheNextRunWouldTake) {
  const auto shown = texts();
  EXPECT_THAT(shown, Contains("130.0 ms predicted, +5.0 ms ± 2.0"));
  EXPECT_THAT(shown, Contains("2 buckets · against run 4 on screen"));
  EXPECT_THAT(shown, Contains("+5.00 ms in this step"));
  EXPECT_THAT(shown, Contains("bucket_cap_mb=4"));
  EXPECT_THAT(shown, Contains(HasSubstr("Backward ends with bucket 1 (4.00 MiB)")));
  EXPECT_THAT(shown, Contains(HasSubstr("Predicted next")));
}

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

// Before anything is changed.
TEST_F(PredictionTest, SaysWhatBoundsTheMeasuredStep) {
  view_.prediction->changes.clear();
  const auto shown = texts();
  EXPECT_THAT(shown, Contains("Bound by"));
  EXPECT_THAT(shown, Contains(HasSubstr("Backward ends with bucket 1")));
  EXPECT_THAT(shown, Not(Contains(HasSubstr("in this step"))));
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

TEST_F(PredictionTest, OneClickGoesToTheBestValue) {
  texts();
  ASSERT_TRUE(window_.click(snapshot_, "best/bucket_cap_mb"));
  const auto set = window_.take<state::SetKnob>();
  ASSERT_TRUE(set);
  EXPECT_EQ(set->name, "bucket_cap_mb");
  EXPECT_EQ(set->text, "2");
}

TEST_F(PredictionTest, MeasuredRunsLieOnTheCurveTheyAreOf) {
  state::Ledger ledger;
  state::LedgerRow row;
  row.settings = snapshot_.knobs.next;
  row.ranks = static_cast<int>(row.settings.ranks);
  row.ordinal = "run 7";
  row.summary.step_ns.count = 20;
  row.summary.step_ns.mean = 121 * kMs;
  row.settings.bucket_cap_mb = 2;
  ledger.rows.push_back(row);
  row.settings.batch_per_rank += 1;  // another job
  ledger.rows.push_back(row);
  ledger.rows.back().is_shown = ledger.rows.back().is_baseline = true;
  row.settings = ledger.rows.front().settings;
  row.settings.steps += 7;  // which makes no step longer
  row.not_compared = "other machine";
  ledger.rows.push_back(row);
  snapshot_.ledger = std::make_shared<const state::Ledger>(ledger);
  publish();
  const auto chart = present::knob_chart(snapshot_, cap_knob());
  ASSERT_TRUE(chart);
  ASSERT_EQ(chart->measured.size(), 1u);
  EXPECT_EQ(chart->measured[0].run, "run 7");
  EXPECT_FLOAT_EQ(chart->measured[0].x, chart->points[1].x);
  // From 117 ms, the lowest of an interval, to 132 ms, with a margin of 8 % of that on either side.
  EXPECT_NEAR(chart->measured[0].y, (4 + 0.08 * 15) / (15 * 1.16), 1e-4);
  EXPECT_NEAR(chart->points[1].low, 0.08 / 1.16, 1e-4);
  EXPECT_NEAR(chart->points[2].high, 1.08 / 1.16, 1e-4);
  EXPECT_EQ(chart->points[0].low, chart->points[0].y) << "as it is";
  EXPECT_EQ(chart->points[1].difference, "−5.0 ms ± 3.0");
}

// Of the run on screen the ledger says that it is of another machine than the baseline, of which
// the others are.
TEST_F(PredictionTest, RunsOfAnotherMachineThanTheOneOnScreenAreNotOnItsCurve) {
  state::Ledger ledger;
  state::LedgerRow own;
  own.settings = snapshot_.knobs.next;
  own.ranks = static_cast<int>(own.settings.ranks);
  own.ordinal = "run 5";
  own.summary.step_ns.count = 20;
  own.summary.step_ns.mean = 1163 * kMs;
  own.is_baseline = true;
  state::LedgerRow shown = own;
  shown.ordinal = "example 2";
  shown.summary.step_ns.mean = 125 * kMs;
  shown.is_baseline = false;
  shown.is_shown = true;
  const auto measured = [&](const char* not_compared) {
    shown.not_compared = not_compared;
    ledger.rows = {own, shown};
    snapshot_.ledger = std::make_shared<const state::Ledger>(ledger);
    publish();
    std::vector<std::string> runs;
    const auto chart = present::knob_chart(snapshot_, cap_knob());
    if (!chart) return runs;
    for (const auto& run : chart->measured) runs.push_back(run.run);
    return runs;
  };
  EXPECT_THAT(measured(""), ::testing::ElementsAre("run 5", "example 2"));
  EXPECT_THAT(measured("other machine"), ::testing::ElementsAre("example 2"));
  own.is_baseline = false;
  EXPECT_THAT(measured(""), ::testing::ElementsAre("example 2")) << "nothing was compared";
}

// By 11 ms ± 31 nobody is surely faster.
TEST_F(PredictionTest, OnlyWhatIsSurelyFasterIsCalledBest) {
  const auto chart_with = [&](std::vector<trace::tuning::CurvePoint> points, double cap) {
    view_.curves.front().points = std::move(points);
    snapshot_.knobs.next.bucket_cap_mb = cap;
    publish();
    return *present::knob_chart(snapshot_, cap_knob());
  };
  const auto noise = [](double cap, double more) {
    return trace::tuning::CurvePoint{present::format_plain(cap), cap, (125 + more) * kMs,
                                     Interval{(more - 31) * kMs, (more + 31) * kMs}, true};
  };
  const trace::tuning::CurvePoint recorded{"1", 1, 125 * kMs, std::nullopt, true};
  auto chart = chart_with({recorded, noise(8.9, -11), noise(62, 4)}, 1);
  EXPECT_FALSE(chart.best);
  EXPECT_EQ(chart.why_no_best, "no clear difference");
  EXPECT_THAT(texts(), Contains("no clear difference"));
  chart = chart_with({recorded, noise(8.9, -11), noise(62, 40)}, 1);
  EXPECT_FALSE(chart.best);
  EXPECT_EQ(chart.why_no_best, "none surely faster") << "62 is surely slower";
  chart = chart_with({recorded, noise(8.9, -40), noise(62, 4)}, 1);
  EXPECT_EQ(chart.best, 1u);
  EXPECT_EQ(chart.why_no_best, "");
  chart = chart_with(
      {recorded, noise(8.9, -40), {"16", 16, 110 * kMs, Interval{-16 * kMs, -14 * kMs}, true}}, 1);
  EXPECT_EQ(chart.best, 2u) << "surely 14 ms, not 9";
  chart = chart_with(
      {recorded, noise(8.9, -30), {"16", 16, 110 * kMs, Interval{-16 * kMs, -14 * kMs}, true}}, 1);
  EXPECT_EQ(chart.best, 2u) << "the other may be chance";
  // 4 is no point of this curve: 130 ms, as the prediction says, of which 122 lie beyond.
  view_.prediction->recorded_step_ns = 125 * kMs;
  view_.prediction->step_ns = 130 * kMs;
  view_.prediction->difference = Interval{3 * kMs, 7 * kMs};
  EXPECT_EQ(chart_with({recorded, noise(8.9, -11), noise(62, 4)}, 4).best, 0u) << "as measured";
  view_.prediction->difference = Interval{-3 * kMs, 13 * kMs};
  EXPECT_FALSE(chart_with({recorded, noise(8.9, -11), noise(62, 4)}, 4).best);
  EXPECT_EQ(chart_with({recorded, noise(8.9, -32), noise(62, 4)}, 4).best, 1u);
  EXPECT_THAT(texts(), Contains(HasSubstr("axis: ")));
}

// Above the curve is one line, whether a value is called best or not: nothing is left blank, and
// nothing moves while a value does.
TEST_F(PredictionTest, ScaleAndBestValueShareALine) {
  const auto height = [&] {
    window_.frames(snapshot_, 3);
    return window_.probe().find("slider/bucket_cap_mb")->rect.y -
           window_.probe().find("knob/bucket_cap_mb")->rect.y;
  };
  publish();
  const float with_best = height();
  const auto* best = window_.probe().find("best/bucket_cap_mb");
  ASSERT_NE(best, nullptr);
  const auto scale = std::ranges::find_if(
      window_.probe().texts, [](const auto& text) { return text.text.starts_with("axis: "); });
  ASSERT_NE(scale, window_.probe().texts.end());
  EXPECT_NEAR(scale->rect.center_y(), best->rect.center_y(), 2);
  EXPECT_GT(best->rect.x, scale->rect.right());
  for (auto& point : view_.curves.front().points) point.difference.reset();
  publish();
  EXPECT_EQ(height(), with_best);
  EXPECT_EQ(window_.probe().find("best/bucket_cap_mb"), nullptr);
}

TEST_F(PredictionTest, ACurveWithoutAPredictionIsNone) {
  EXPECT_FALSE(present::knob_chart(snapshot_, cap_knob()));
  view_.curves.front().points.clear();
  publish();
  const auto chart = present::knob_chart(snapshot_, cap_knob());
  ASSERT_TRUE(chart) << "it is being worked out";
  EXPECT_TRUE(chart->points.empty());
  window_.frames(snapshot_, 3);
  EXPECT_FALSE(window_.click(snapshot_, "best/bucket_cap_mb"));
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

TEST(PredictedRibbon, PartitionsTheStep) {
  const auto pieces = present::predicted_ribbon(two_buckets(3, 0));
  const auto ms = [](double value) { return static_cast<std::int64_t>(value * kMs); };
  const std::vector<present::PredictedPiece> expected{
      {0, ms(40), TimeClass::kCompute, false},
      {ms(40), ms(50), TimeClass::kOverlapped, false},
      {ms(50), ms(80), TimeClass::kCompute, false},
      {ms(80), ms(110), TimeClass::kExposed, false},
      {ms(110), ms(130), TimeClass::kIdle, true}};
  EXPECT_EQ(pieces, expected);
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
