#include "app/session/controller.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "tests/app/session/controller_fixture.h"

namespace shardlens::app::session {
namespace {

using ui::state::JobPhase;

TEST_F(ControllerTest, TheSameSnapshotUntilSomethingChanges) {
  open();
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.version > 0; }));
  ASSERT_TRUE(eventually([this] {
    const auto before = controller->snapshot();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // nothing is to come in it
    return controller->snapshot() == before;
  }));
  const auto first = controller->snapshot();
  EXPECT_EQ(controller->snapshot(), first);
  controller->execute(ui::state::SetKnob{"steps", "12"});
  EXPECT_GT(controller->snapshot()->version, first->version);
  EXPECT_EQ(controller->snapshot()->knobs.next.steps, 12);
}

TEST_F(ControllerTest, EstimatesFollowTheKnobsAtOnce) {
  open();
  const auto before = controller->snapshot()->knobs.estimates;
  ASSERT_TRUE(before);
  controller->execute(ui::state::SetKnob{"batch_per_rank", "16"});
  const auto after = controller->snapshot()->knobs.estimates;
  EXPECT_GT(after->strategies[0].memory.total(), before->strategies[0].memory.total());
  EXPECT_EQ(after->strategies[0].traffic.bytes(), before->strategies[0].traffic.bytes());
}

TEST_F(ControllerTest, AWrongValueChangesNothingAndSaysWhy) {
  open();
  controller->execute(ui::state::SetKnob{"bucket_cap_mb", "plenty"});
  EXPECT_TRUE(controller->snapshot()->notice_is_error);
  EXPECT_NE(controller->snapshot()->notice.find("bucket_cap_mb"), std::string::npos);
  EXPECT_EQ(controller->snapshot()->knobs.next.bucket_cap_mb, 25);
  controller->execute(ui::state::SetKnob{"bucket_cap_mb", "60"});
  EXPECT_EQ(controller->snapshot()->notice, "");
  controller->execute(ui::state::ResetKnob{"bucket_cap_mb"});
  EXPECT_EQ(controller->snapshot()->knobs.next.bucket_cap_mb, 25);
}

TEST_F(ControllerTest, OpensThePlanChangesItsTargetAndClosesIt) {
  open();
  EXPECT_EQ(controller->snapshot()->plan, nullptr);
  controller->execute(ui::state::SetKnob{"ranks", "some"});
  EXPECT_TRUE(controller->snapshot()->notice_is_error);
  controller->execute(ui::state::ShowPlan{});
  ASSERT_TRUE(controller->snapshot()->plan);
  EXPECT_FALSE(controller->snapshot()->notice_is_error) << "it is not of the plan's fields";
  controller->execute(ui::state::SetPlanTarget{"nodes", "4"});
  EXPECT_EQ(controller->snapshot()->plan->plan->request.ranks(), 32);
  controller->execute(ui::state::SetPlanTarget{"nodes", "some"});
  EXPECT_TRUE(controller->snapshot()->notice_is_error);
  EXPECT_EQ(controller->snapshot()->plan->target.nodes, 4);
  controller->execute(ui::state::SetKnob{"sharding_strategy", "full_shard"});
  EXPECT_FALSE(controller->snapshot()->notice_is_error);
  EXPECT_EQ(controller->snapshot()->plan->plan->request.settings.sharding_strategy,
            trace::job::Strategy::kFullShard);
  controller->execute(ui::state::ShowPlan{false});
  EXPECT_EQ(controller->snapshot()->plan, nullptr);
}

TEST_F(ControllerTest, SelectsSteps) {
  write_run("a", 25);
  open();
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.run && now.run->timeline; }));
  controller->execute(ui::state::SelectStep{1});
  EXPECT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.run->timeline->step == 1; }));
}

TEST_F(ControllerTest, ReplayIsSteeredByCommands) {
  const auto run = write_run("a", 25);
  open();
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.run != nullptr; }));
  controller->execute(ui::state::StartReplay{run.string()});
  controller->execute(ui::state::SetReplayPlaying{false});
  controller->execute(ui::state::SetReplaySpeed{4});
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) {
    return now.replay.active && !now.replay.playing && now.replay.speed == 4;
  }));
  controller->execute(ui::state::SeekReplay{INT64_MAX});
  ASSERT_TRUE(becomes(
      [](const ui::state::Snapshot& now) { return now.replay.now_ns == now.replay.end_ns; }));
  controller->execute(ui::state::StopReplay{});
  EXPECT_TRUE(becomes([](const ui::state::Snapshot& now) { return !now.replay.active; }));
}

TEST_F(ControllerTest, TheNextReplayHasTheSpeedOfTheLast) {
  const auto run = write_run("a", 25);
  open();
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.run != nullptr; }));
  EXPECT_EQ(controller->replay_speed(), 1);
  controller->execute(ui::state::StartReplay{run.string()});
  controller->execute(ui::state::SetReplaySpeed{0.5});
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.replay.speed == 0.5; }));
  controller->execute(ui::state::StopReplay{});
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return !now.replay.active; }));
  controller->execute(ui::state::StartReplay{run.string()});
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.replay.active; }));
  EXPECT_EQ(controller->snapshot()->replay.speed, 0.5);
  EXPECT_EQ(controller->replay_speed(), 0.5);
}

TEST_F(ControllerTest, CopiedTextIsHandedOutOnceAndQuitIsRemembered) {
  open();
  controller->execute(ui::state::CopyText{"bucket 3"});
  EXPECT_EQ(controller->take_copied_text(), "bucket 3");
  EXPECT_FALSE(controller->take_copied_text());
  EXPECT_FALSE(controller->quit_requested());
  controller->execute(ui::state::Quit{});
  EXPECT_TRUE(controller->quit_requested());
}

TEST_F(ControllerTest, ClosingAsksFirstWhileARunGoesOn) {
  open();
  controller->execute(ui::state::StartRun{});
  controller->execute(ui::state::Quit{});
  EXPECT_FALSE(controller->quit_requested());
  EXPECT_TRUE(controller->snapshot()->asks_to_close);
  controller->execute(ui::state::KeepOpen{});
  EXPECT_FALSE(controller->snapshot()->asks_to_close);
  controller->execute(ui::state::Quit{});
  EXPECT_FALSE(controller->quit_requested());
  controller->execute(ui::state::Quit{});  // the title bar's cross once more, or the answer
  EXPECT_TRUE(controller->quit_requested());
}

TEST_F(ControllerTest, ClosingAsksNoMoreOnceTheRunHasEnded) {
  open();
  controller->execute(ui::state::StartRun{});
  ASSERT_TRUE(becomes([](const auto& now) { return now.job.phase == JobPhase::kRunning; }));
  controller->execute(ui::state::Quit{});
  EXPECT_TRUE(controller->snapshot()->asks_to_close);
  jobs.started().front()->end();
  EXPECT_TRUE(becomes([](const auto& now) { return !now.asks_to_close; }));
  EXPECT_FALSE(controller->quit_requested());
  controller->execute(ui::state::Quit{});
  EXPECT_TRUE(controller->quit_requested());
}

TEST_F(ControllerTest, ClosingAsksFirstWhileASweepGoesOn) {
  open();
  controller->execute(ui::state::OpenSweepCard{.knob = "bucket_cap_mb"});
  ASSERT_TRUE(becomes([](const auto& now) {
    return now.sweep && now.sweep->card && now.sweep->card->can_start();
  }));
  controller->execute(ui::state::StartSweep{});
  controller->execute(ui::state::Quit{});
  EXPECT_FALSE(controller->quit_requested());
  EXPECT_TRUE(controller->snapshot()->asks_to_close);
}

}  // namespace
}  // namespace shardlens::app::session
