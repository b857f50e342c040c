#include "ui/present/headline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "tests/ui/testing/own_copy.h"
#include "tests/ui/testing/sample_snapshot.h"
#include "ui/present/job_text.h"

namespace shardlens::ui::present {

namespace {

TEST(Headlines, LeadWithStepAndExposedTime) {
  const auto lines = headlines(sample_snapshot().run->figures);
  ASSERT_GE(lines.size(), 3u);
  EXPECT_EQ(lines[0].label, "Step");
  EXPECT_EQ(lines[1].label, "Exposed");
  for (const auto& line : lines) {
    EXPECT_FALSE(line.definition.empty()) << line.label;
    EXPECT_FALSE(line.source.empty()) << line.label;
  }
}

// Twenty steps that take 100 and 102 ms in turn: as exact as that, and not as they scatter.
TEST(Headlines, ThePlusMinusOfAStepIsThatOfItsMean) {
  trace::analysis::RunFigures figures = sample_snapshot().run->figures;
  const auto like = figures.steps.back();
  figures.steps.assign(40, like);
  for (std::size_t i = 0; i < figures.steps.size(); ++i) {
    figures.steps[i].warmup = false;
    for (auto& rank : figures.steps[i].ranks) {
      rank.step_ns = (100 + 2 * static_cast<std::int64_t>(i % 2)) * 1'000'000;
    }
  }
  figures.summary.step_ns.mean = 101e6;
  figures.summary.step_ns.standard_deviation = 1e6;
  const auto exact = headlines(figures)[0];
  ASSERT_TRUE(exact.note.starts_with("± ")) << exact.note;
  EXPECT_LT(std::stod(exact.note.substr(std::string("± ").size())), 1);
  EXPECT_NE(exact.definition.find("95 %"), std::string::npos);
  figures.steps.resize(3);
  const auto few = headlines(figures)[0];
  EXPECT_EQ(few.note, "") << "nothing is made up";
  EXPECT_NE(few.definition.find("too few"), std::string::npos);
}

TEST(RunCircumstances, NameTheDayOfARunOfAnotherDay) {
  trace::model::RunInfo info = sample_snapshot().run->figures.info;
  info.start_ns = 1'600'000'000'000'000'000;
  EXPECT_TRUE(run_circumstances(info, true).starts_with("09-1")) << run_circumstances(info, true);
  info.start_ns = static_cast<std::int64_t>(std::time(nullptr)) * 1'000'000'000;
  EXPECT_EQ(run_circumstances(info, true).find(':'), 2u) << "a time";
}

TEST(Headlines, SayWhetherPeakMemoryHasWhatLiesOutsidePyTorch) {
  trace::analysis::RunFigures figures = sample_snapshot().run->figures;
  const auto definition = [&] {
    const auto lines = headlines(figures);
    return std::ranges::find(lines, "Peak memory", &Headline::label)->definition;
  };
  const auto outside = static_cast<std::size_t>(trace::model::MemoryCategory::kOutside);
  for (auto& rank : figures.ranks) rank.peak.bytes[outside] = 1 << 20;
  EXPECT_THAT(definition(), testing::HasSubstr("plus what lies outside"));
  for (auto& rank : figures.ranks) rank.peak.bytes[outside] = 0;
  EXPECT_THAT(definition(), testing::HasSubstr("outside PyTorch is not known"));
}

TEST(Headlines, TellWaitingOnlyWhereSomebodyWaited) {
  trace::analysis::RunFigures figures = sample_snapshot().run->figures;
  figures.summary.exposed_wait_ns = 3.27e6;
  EXPECT_TRUE(headlines(figures)[1].note.ends_with("of step, 3.27 ms waiting"));
  EXPECT_TRUE(headlines(figures)[1].brief_note.ends_with("%, 3.27 ms waiting"));
  figures.summary.exposed_wait_ns = 0;
  EXPECT_TRUE(headlines(figures)[1].note.ends_with("of step"));
}

TEST(Headlines, ExposedIsAShareOfTheStepsThatItIsKnownOf) {
  trace::analysis::RunFigures figures = sample_snapshot().run->figures;
  auto& summary = figures.summary;
  summary.step_ns.mean = 100e6;  // with steps that are not read yet, and shorter
  summary.detailed_step_ns = 200e6;
  summary.exposed_ns = 50e6;
  summary.exposed_wait_ns = 0;
  EXPECT_EQ(headlines(figures)[1].note, "25 % of step");
}

TEST(Headlines, LeaveOutWhatIsNotKnown) {
  trace::analysis::RunFigures figures = sample_snapshot().run->figures;
  EXPECT_FALSE(figures.summary.mfu.has_value());
  for (const auto& line : headlines(figures)) EXPECT_NE(line.label, "MFU");
  EXPECT_TRUE(headlines(trace::analysis::RunFigures{}).empty());
}

TEST(StartControls, SayWhatStartDoes) {
  state::Snapshot snapshot = sample_snapshot();
  EXPECT_EQ(start_controls(snapshot).label, "Queue run 5");
  EXPECT_EQ(start_controls(snapshot).detail, "cap 60");
  EXPECT_EQ(start_controls(snapshot).stop_and_start, "Stop run 4 and start");
  snapshot.job = {};
  EXPECT_EQ(start_controls(snapshot).label, "Start run 5");
  EXPECT_EQ(start_controls(empty_snapshot()).label, "Start run 1");
  snapshot.job.phase = state::JobPhase::kRunning;
  snapshot.job.queued = {{1, "cap 60"}, {2, "cap 90"}};
  EXPECT_EQ(start_controls(snapshot).kind, StartControls::Kind::kQueue);
  EXPECT_EQ(start_controls(snapshot).label, "Queue run 7") << "behind those that wait";
  EXPECT_EQ(start_controls(installing_snapshot()).kind, StartControls::Kind::kInstalling);
}

TEST(StartControls, RefuseSettingsWithAProblem) {
  state::Snapshot snapshot = empty_snapshot();
  EXPECT_EQ(why_no_start(snapshot), "");
  snapshot.knobs.problems.push_back({"ranks", "More ranks than GPUs"});
  EXPECT_FALSE(start_controls(snapshot).enabled);
  EXPECT_EQ(why_no_start(snapshot), "More ranks than GPUs");
}

TEST(StartControls, SayWhyNothingCanBeStarted) {
  EXPECT_EQ(why_no_start(installing_snapshot()), "The trainer is still being set up");
  state::Snapshot snapshot = empty_snapshot();
  snapshot.trainer.state = state::TrainerSetup::State::kNotWanted;
  EXPECT_NE(why_no_start(snapshot), "");
}

TEST(ProgressText, TellsHowFarAndHowARunEnded) {
  const state::Snapshot live = sample_snapshot();
  EXPECT_EQ(progress_text(live).left, "step 120 of 200");
  EXPECT_FLOAT_EQ(progress_text(live).fraction, 0.6f);
  EXPECT_TRUE(progress_text(failed_snapshot()).failed);
  EXPECT_EQ(progress_text(failed_snapshot()).left, "failed");
  EXPECT_THAT(progress_text(failed_snapshot()).details,
              testing::StartsWith("failed after 40 steps"));
  EXPECT_EQ(progress_text(empty_snapshot()).left, "");
}

TEST(ProgressText, LeavesOutATotalThatIsNotKnown) {
  state::Snapshot live = sample_snapshot();
  live.job.steps = 0;
  live.job.step = 12;
  EXPECT_EQ(progress_text(live).left, "step 12");
  EXPECT_EQ(steps_text(1), "1 step");
}

TEST(StartControls, CountOnlyTheUsersOwnRuns) {
  state::Snapshot snapshot = empty_snapshot();
  state::LedgerRow bundled;
  bundled.ordinal = "run 9";
  bundled.is_bundled = true;
  snapshot.ledger = std::make_shared<state::Ledger>(
      state::Ledger{.rows = {bundled}, .spread_note = "", .problems = {}});
  EXPECT_EQ(start_controls(snapshot).label, "Start run 1");
}

TEST(Headlines, NameTheSourcesThatTheRecorderUsed) {
  SampleOptions options;
  options.gpu = true;
  trace::analysis::RunFigures figures = sample_snapshot(options).run->figures;
  EXPECT_EQ(time_source(figures), "Sources: kernels: CUPTI; collectives: the host's calls");
  EXPECT_EQ(memory_source(figures), "Source: CUDA's caching allocator");
  figures.ranks.clear();
  EXPECT_THAT(time_source(figures), testing::HasSubstr("does not name"));
}

TEST(Progress, TellsTheLengthOfAShortRunThatEnded) {
  auto run = std::make_shared<state::RunView>();
  run->figures.info.status = trace::model::RunStatus::kDone;
  run->figures.info.start_ns = 1;
  run->figures.info.end_ns = 1 + 87'400'000;
  state::Snapshot snapshot;
  snapshot.run = run;
  EXPECT_EQ(progress_text(snapshot).right, "87.4 ms");
  run->figures.info.end_ns = 1 + 75'000'000'000;
  EXPECT_EQ(progress_text(snapshot).right, "1:15.0");
}

TEST(Progress, OfTheJobNamesItsRunBesideAnother) {
  state::Snapshot snapshot = sample_snapshot();
  EXPECT_EQ(progress_text(snapshot).left, "step 120 of 200");
  auto& other = own_copy(snapshot.run);
  other.figures.info.folder = "runs/baseline";
  EXPECT_EQ(progress_text(snapshot).left, "run 4: step 120 of 200");
}

// Of steps 100 to 149 the first is done.
TEST(Progress, OfARunThatWasResumedCountsTheStepsBefore) {
  state::Snapshot snapshot = sample_snapshot({.steps = 1});
  snapshot.job = {};  // another program runs it
  auto& run = own_copy(snapshot.run);
  run.figures.info.settings.steps = 150;
  run.figures.steps.front().index = 100;
  EXPECT_EQ(progress_text(snapshot).left, "step 101 of 150");
  EXPECT_FLOAT_EQ(progress_text(snapshot).fraction, 101.0f / 150);
}

TEST(Messages, TellWhatInspectCannotShowBesideWhatItShows) {
  state::Snapshot snapshot = sample_snapshot();
  auto inspect = std::make_shared<state::InspectView>();
  inspect->problem = "rank_1.sqlite is damaged";
  snapshot.inspect = inspect;
  EXPECT_EQ(messages(snapshot, true).size(), 1u) << "the workspace says it";
  inspect = std::make_shared<state::InspectView>(*inspect);
  inspect->rows = std::make_shared<const trace::timeline::TimelineRows>();
  snapshot.inspect = inspect;
  ASSERT_EQ(messages(snapshot, true).size(), 2u);
  EXPECT_EQ(messages(snapshot, true)[0].notes, std::vector<std::string>{inspect->problem});
  EXPECT_TRUE(messages(snapshot, true)[0].is_error);
  EXPECT_EQ(messages(snapshot).size(), 1u) << "of another workspace";
}

TEST(Messages, TellOfLostRecordsAndOfAHangBeforeTheBanner) {
  state::Snapshot snapshot = sample_snapshot();
  EXPECT_EQ(messages(snapshot).size(), 1u) << "the banner alone";
  auto& run = own_copy(snapshot.run);
  run.diagnosis = "Rank 1 did not arrive in bucket 3";
  run.figures.recorder.lost = 1200;
  run.figures.recorder.losses.push_back({0, "operator queue full", 1200});
  const auto lines = messages(snapshot);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[0].is_error);
  EXPECT_EQ(lines[1].notes,
            std::vector<std::string>{"1,200 records were lost: operator queue full"});
}

TEST(RecorderText, TellsTheCostOfRecording) {
  trace::analysis::RecorderFigures recorder;
  recorder.events = 12'340;
  recorder.bytes_on_disk = 1'258'291;
  recorder.overhead_fraction = 0.008;
  EXPECT_EQ(
      recorder_text(recorder),
      "12,340 events in 1.20 MiB; recording makes steps about 0.8 % longer, estimated; none lost");
  recorder.overhead_is_measured = true;
  EXPECT_EQ(recorder_text(recorder),
            "12,340 events in 1.20 MiB; recording makes steps 0.8 % longer, measured; none lost");
  recorder.overhead_is_least = true;
  EXPECT_EQ(recorder_text(recorder),
            "12,340 events in 1.20 MiB; recording makes steps at least 0.8 % longer, measured "
            "without what CUPTI adds to each launch; none lost");
  recorder.lost = 1'200;
  EXPECT_TRUE(recorder_text(recorder).ends_with("; 1,200 lost"));
}

TEST(RecorderText, ExplainsTheFigureThatItTells) {
  trace::analysis::RecorderFigures recorder;
  EXPECT_EQ(recorder_definition(recorder).find("cost"), std::string::npos) << "it is not known";
  recorder.overhead_fraction = 0.008;
  EXPECT_NE(recorder_definition(recorder).find("time of callbacks"), std::string::npos);
  EXPECT_EQ(recorder_definition(recorder).find("CUPTI"), std::string::npos);
  recorder.overhead_is_measured = recorder.overhead_is_least = true;
  const std::string measured = recorder_definition(recorder);
  EXPECT_EQ(measured.find("callbacks"), std::string::npos) << measured;
  EXPECT_NE(measured.find("median step with detail"), std::string::npos) << measured;
  EXPECT_TRUE(measured.ends_with("What CUPTI does in each launch comes on top")) << measured;
}

}  // namespace

}  // namespace shardlens::ui::present
