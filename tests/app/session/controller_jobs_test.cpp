// What the controller starts and stops: jobs, how far they are, and sweeps.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "app/session/runs/library_run.h"
#include "tests/app/session/controller_fixture.h"
#include "trace/base/wall_clock.h"

namespace shardlens::app::session {
namespace {

using ui::state::JobPhase;

TEST_F(ControllerTest, StartUsesTheDraftAndShowsTheJob) {
  SyntheticOptions options;
  options.name = "live";
  options.start_ns = trace::base::wall_clock_ns();
  SyntheticRun run(runs, options);
  run.add_steps(5);
  run.beat(trace::base::wall_clock_ns());
  jobs.record_in(run.folder());
  open();
  controller->execute(ui::state::SetKnob{"bucket_cap_mb", "60"});
  const auto name = controller->snapshot()->knobs.next_name;
  controller->execute(ui::state::StartRun{});
  ASSERT_TRUE(
      becomes([](const ui::state::Snapshot& now) { return now.job.phase == JobPhase::kRunning; }));
  EXPECT_EQ(jobs.started()[0]->request.settings.bucket_cap_mb, 60);
  EXPECT_EQ(jobs.started()[0]->request.name, name);
  EXPECT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.run && now.run->is_live; }));
  EXPECT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.job.step == 5; }));
  EXPECT_EQ(controller->snapshot()->job.steps, 100);
  EXPECT_NE(controller->snapshot()->knobs.next_name, name) << "that name is taken now";
}

TEST_F(ControllerTest, StartWaitsForTheTrainer) {
  const auto status = folder.path() / "trainer";
  std::ofstream(status) << "state=installing\nmessage=Fetching\nfraction=0.5\n";
  open([&](ControllerOptions& options) { options.trainer_status = status; });
  EXPECT_EQ(controller->snapshot()->trainer.message, "Fetching");
  controller->execute(ui::state::StartRun{});
  EXPECT_TRUE(controller->snapshot()->notice_is_error);
  EXPECT_TRUE(jobs.started().empty());
  controller->execute(ui::state::RetryTrainerSetup{});
  EXPECT_TRUE(std::filesystem::exists(status.string() + ".retry"));
}

TEST_F(ControllerTest, ContradictingSettingsAreNotStarted) {
  open();
  controller->execute(ui::state::SetKnob{"inject", "rank=9,nonsense"});
  ASSERT_FALSE(controller->snapshot()->knobs.problems.empty());
  controller->execute(ui::state::StartRun{});
  EXPECT_TRUE(controller->snapshot()->notice_is_error);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_TRUE(jobs.started().empty());
}

// What another machine takes is not what this one does.
TEST_F(ControllerTest, ARunIsStartedWithWhatIsPredictedOfItFromARunOfThisMachine) {
  const auto example =
      std::filesystem::path(SHARDLENS_SOURCE_DIR) / "assets/runs/slow_link_cap_1.shardlens";
  const auto recorded = read_run_figures(example).value();
  const auto started_on = [&](const std::string& host) {
    open([&](ControllerOptions& options) {
      options.run = example;
      options.first_settings = recorded.info.settings;
      options.machine.host = host;
    });
    EXPECT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.prediction != nullptr; }));
    controller->execute(ui::state::SetKnob{"bucket_cap_mb", "4"});
    const auto view = controller->snapshot()->prediction;
    EXPECT_TRUE(view && view->prediction) << view->refused;
    const std::size_t before = jobs.started().size();
    controller->execute(ui::state::StartRun{});
    EXPECT_TRUE(eventually([&] { return jobs.started().size() > before; }));
    return std::pair(view->prediction, jobs.started().back()->request.predicted);
  };
  const auto [view, predicted] = started_on(recorded.ranks.front().info.host);
  ASSERT_TRUE(view && predicted);
  EXPECT_EQ(predicted->step_ns, view->step_ns);
  EXPECT_EQ(predicted->low_ns.has_value(), view->interval.has_value());
  EXPECT_EQ(predicted->from, recorded.info.name);
  EXPECT_FALSE(started_on("elsewhere").second);
}

TEST_F(ControllerTest, QueueCancelAndStop) {
  open();
  controller->execute(ui::state::StartRun{});
  ASSERT_TRUE(
      becomes([](const ui::state::Snapshot& now) { return now.job.phase == JobPhase::kRunning; }));
  controller->execute(ui::state::StartRun{});
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return !now.job.queued.empty(); }));
  controller->execute(ui::state::CancelQueued{});
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.job.queued.empty(); }));
  controller->execute(ui::state::StopRun{});
  ASSERT_TRUE(
      becomes([](const ui::state::Snapshot& now) { return now.job.phase == JobPhase::kNone; }));
  EXPECT_EQ(jobs.started().size(), 1u);
}

TEST_F(ControllerTest, TheJobGoesOnWhileAnotherRunIsLookedAt) {
  const auto old = write_run("old", 25);
  SyntheticOptions options;
  options.name = "live";
  options.start_ns = trace::base::wall_clock_ns();
  SyntheticRun run(runs, options);
  run.add_steps(5);
  jobs.record_in(run.folder());
  open();
  controller->execute(ui::state::StartRun{});
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) {
    return now.run && now.run->figures.info.name == "live" && now.job.step == 5;
  }));
  controller->execute(ui::state::ShowRun{old.string()});
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) {
    return now.run && now.run->figures.info.name == "old";
  }));
  run.add_steps(3);
  run.beat(trace::base::wall_clock_ns());
  EXPECT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.job.step == 8; }));
  EXPECT_EQ(controller->snapshot()->run->figures.info.name, "old");
  EXPECT_FALSE(jobs.started()[0]->stop_requested);
}

TEST_F(ControllerTest, ARunThatWaitedForItsTurnTakesTheScreenFromTheOneBeforeItOnly) {
  const auto old = write_run("old", 25), first = write_run("first", 4, 1'000'000'000),
             second = write_run("second", 8, 2'000'000'000),
             third = write_run("third", 16, 3'000'000'000);
  open();
  const auto shows = [&](const char* name) {
    return becomes([&](const auto& now) { return now.run && now.run->figures.info.name == name; });
  };
  const auto start_in = [&](const std::filesystem::path& run) {
    jobs.record_in(run);
    controller->execute(ui::state::StartRun{});
  };
  const auto job_becomes = [&](const std::filesystem::path& run) {
    return becomes([&](const auto& now) { return now.job.folder == run.string(); });
  };
  ASSERT_TRUE(shows("third"));
  start_in(first);
  ASSERT_TRUE(job_becomes(first));
  EXPECT_TRUE(shows("first")) << "whatever was on screen";
  start_in(second);
  controller->execute(ui::state::ShowRun{old.string()});
  ASSERT_TRUE(shows("old"));
  jobs.started().back()->end();
  ASSERT_TRUE(job_becomes(second));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // nothing is to come in it
  EXPECT_EQ(controller->snapshot()->run->figures.info.name, "old");
  controller->execute(ui::state::ShowRun{second.string()});
  ASSERT_TRUE(shows("second"));
  start_in(third);
  jobs.started().back()->end();
  EXPECT_TRUE(shows("third")) << "it follows";
}

TEST_F(ControllerTest, AClickOnTheRunOnScreenLeavesTheStartedOneTheScreen) {
  const auto started = write_run("started", 25);
  const auto shown = write_run("shown", 4, 1'000'000'000);
  open();
  const auto shows = [&](const char* name) {
    return becomes([&](const auto& now) { return now.run && now.run->figures.info.name == name; });
  };
  ASSERT_TRUE(shows("shown"));
  jobs.record_in(started);
  controller->execute(ui::state::StartRun{});
  controller->execute(ui::state::ShowRun{shown.string()});
  EXPECT_TRUE(shows("started"));
}

// Steps 100 to 149 of 150.
TEST_F(ControllerTest, TheProgressOfAResumedJobCountsTheStepsBefore) {
  SyntheticOptions options;
  options.name = "resumed";
  options.first_step = 100;
  options.settings.steps = 150;
  SyntheticRun run(runs, options);
  run.add_steps(10);
  jobs.record_in(run.folder());
  open();
  controller->execute(ui::state::StartRun{});
  EXPECT_TRUE(becomes([](const auto& now) { return now.job.step == 110; }));
  const auto job = controller->snapshot()->job;
  EXPECT_EQ(job.steps, 150);
  EXPECT_NEAR(job.seconds_left, 40 * 0.02, 1e-6);
  EXPECT_EQ(job.folder, run.folder().string());
}

// So that nothing seems to be set otherwise than in its own runs.
TEST_F(ControllerTest, AStartedSweepLeavesItsAbsolutePathsInTheSettings) {
  open();
  controller->execute(ui::state::SetKnob{"token_cache", "cache"});
  controller->execute(ui::state::OpenSweepCard{.knob = "bucket_cap_mb"});
  ASSERT_TRUE(becomes([](const auto& now) {
    return now.sweep && now.sweep->card && now.sweep->card->can_start();
  }));
  EXPECT_EQ(controller->snapshot()->knobs.next.token_cache, "cache");
  controller->execute(ui::state::StartSweep{});
  EXPECT_EQ(controller->snapshot()->knobs.next.token_cache,
            (std::filesystem::current_path() / "cache").string());
}

TEST_F(ControllerTest, SettingsOfAStartedSweepAreNotReplacedByThoseOfARunThatEnds) {
  open();
  controller->execute(ui::state::OpenSweepCard{.knob = "bucket_cap_mb"});
  ASSERT_TRUE(becomes([](const auto& now) {
    return now.sweep && now.sweep->card && now.sweep->card->can_start();
  }));
  const double cap = controller->snapshot()->knobs.next.bucket_cap_mb;
  controller->execute(ui::state::StartSweep{});
  write_run("other", cap + 7);
  ASSERT_TRUE(becomes([](const auto& now) { return now.knobs.baseline_name == "run 1"; }));
  EXPECT_EQ(controller->snapshot()->knobs.next.bucket_cap_mb, cap);
}

}  // namespace
}  // namespace shardlens::app::session
