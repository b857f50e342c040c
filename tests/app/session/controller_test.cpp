#include "app/session/controller.h"

#include <chrono>
#include <fstream>
#include <thread>
#include <utility>

#include "app/session/jobs/knob_editor.h"
#include "app/session/runs/library_run.h"
#include "app/session/runs/run_liveness.h"
#include "tests/app/session/controller_fixture.h"
#include "trace/base/wall_clock.h"

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

TEST_F(ControllerTest, OpensTheNewestRunAndComparesWithIt) {
  write_run("old", 25);
  write_run("new", 4, 1'000'000'000);
  open();
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.run && now.run->timeline; }));
  const auto snapshot = controller->snapshot();
  EXPECT_EQ(snapshot->run->figures.info.name, "new");
  EXPECT_EQ(snapshot->knobs.next.bucket_cap_mb, 4);
  EXPECT_EQ(snapshot->knobs.baseline_name, "run 2");
  EXPECT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.run->ordinal == "run 2"; }));
  EXPECT_TRUE(becomes([](const ui::state::Snapshot& now) {
    return now.ledger->rows.size() == 2 && now.ledger->rows[0].is_baseline &&
           now.ledger->rows[0].is_shown;
  }));
}

TEST_F(ControllerTest, OpensAnExampleWithoutAFaultWhereThereAreNoRuns) {
  const auto examples = folder.path() / "examples";
  std::filesystem::create_directory(examples);
  SyntheticOptions options;
  options.name = "as it should be";
  finished_run(examples, options);
  options.name = "late";
  options.start_ns += 1'000'000'000;
  options.settings.inject = "rank=1,step=3,phase=forward,every=1,delay_ms=15";
  finished_run(examples, options);
  open([&](ControllerOptions& changed) { changed.bundled_dir = examples; });
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.run != nullptr; }));
  EXPECT_EQ(controller->snapshot()->run->figures.info.name, "as it should be");
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

TEST_F(ControllerTest, OpensThePlanChangesItsTargetAndClosesIt) {
  open();
  EXPECT_EQ(controller->snapshot()->plan, nullptr);
  controller->execute(ui::state::SetKnob{"ranks", "some"});
  EXPECT_TRUE(controller->snapshot()->notice_is_error);
  controller->execute(ui::state::OpenPlan{});
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
  controller->execute(ui::state::ClosePlan{});
  EXPECT_EQ(controller->snapshot()->plan, nullptr);
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
  write_run("shown", 4, 1'000'000'000);
  open();
  const auto shows = [&](const char* name) {
    return becomes([&](const auto& now) { return now.run && now.run->figures.info.name == name; });
  };
  ASSERT_TRUE(shows("shown"));
  jobs.record_in(started);
  controller->execute(ui::state::StartRun{});
  controller->execute(ui::state::ShowRun{controller->snapshot()->ledger->rows.front().folder});
  EXPECT_TRUE(shows("started"));
}

TEST_F(ControllerTest, APinnedBaselineSurvivesARestartAndCanBeUnpinned) {
  const auto old = write_run("old", 25);
  write_run("new", 4, 1'000'000'000);
  open();
  ASSERT_TRUE(
      becomes([](const ui::state::Snapshot& now) { return now.knobs.baseline_name == "run 2"; }));
  controller->execute(ui::state::SetBaseline{old.string()});
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) {
    return now.ledger->rows.size() == 2 && now.ledger->rows[1].is_pinned;
  }));
  controller.reset();
  open();
  ASSERT_TRUE(
      becomes([](const ui::state::Snapshot& now) { return now.knobs.baseline_name == "run 1"; }));
  controller->execute(ui::state::SetKnob{"steps", "12"});
  EXPECT_EQ(controller->snapshot()->knobs.baseline_name, "run 1") << "an edit does not move it";
  controller->execute(ui::state::UnpinBaseline{});
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) {
    return now.knobs.baseline_name == "run 2" && !now.ledger->rows[1].is_pinned;
  }));
  controller.reset();
  open();
  EXPECT_TRUE(
      becomes([](const ui::state::Snapshot& now) { return now.knobs.baseline_name == "run 2"; }));
}

TEST_F(ControllerTest, ADeletedRunMakesWayOnScreenAndAsBaseline) {
  write_run("old", 25);
  const auto newest = write_run("new", 4, 1'000'000'000);
  open();
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) {
    return now.run && now.run->figures.info.name == "new" && now.knobs.baseline_name == "run 2";
  }));
  controller->execute(ui::state::DeleteRuns{{newest.string()}});
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) {
    return now.ledger->rows.size() == 1 && now.run && now.run->figures.info.name == "old" &&
           now.knobs.baseline_name == "run 1";
  }));
  controller->execute(ui::state::UndoDelete{});
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.ledger->rows.size() == 2; }));
  controller->execute(ui::state::EditRuns{{newest.string()}, "old", {}, {}});
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.notice_is_error; }));
  EXPECT_NE(controller->snapshot()->notice.find("called"), std::string::npos);
}

TEST_F(ControllerTest, ARunThatIsDeletedWhileItIsOpenedDoesNotComeOnScreen) {
  write_run("first", 60);
  const auto old = write_run("old", 25, 1'000'000'000);
  write_run("new", 4, 2'000'000'000);
  open();
  const auto shows = [this](const std::string& name) {
    return becomes([&](const ui::state::Snapshot& now) {
      return now.run && now.run->figures.info.name == name && now.knobs.baseline_name == "run 3";
    });
  };
  ASSERT_TRUE(shows("new"));
  controller->execute(ui::state::ShowRun{old.string()});
  controller->execute(ui::state::DeleteRuns{{old.string()}});
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.ledger->rows.size() == 2; }));
  EXPECT_TRUE(shows("new"));
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

TEST_F(ControllerTest, AChosenBaselineStays) {
  const auto old = write_run("old", 25);
  write_run("new", 4, 1'000'000'000);
  open();
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.ledger->rows.size() == 2; }));
  controller->execute(ui::state::SetBaseline{old.string()});
  EXPECT_EQ(controller->snapshot()->knobs.baseline_name, "run 1");
  controller->execute(ui::state::SetKnob{"bucket_cap_mb", "60"});
  EXPECT_EQ(controller->snapshot()->knobs.baseline_name, "run 1");
  controller->execute(ui::state::CopySettings{old.string()});
  EXPECT_EQ(controller->snapshot()->knobs.next.bucket_cap_mb, 25);
  controller->execute(ui::state::SetBaseline{"/gone"});
  EXPECT_TRUE(controller->snapshot()->notice_is_error);
}

TEST_F(ControllerTest, TheLastRunBecomesTheBaselineWithTheNextChange) {
  write_run("first", 25);
  open();
  ASSERT_TRUE(
      becomes([](const ui::state::Snapshot& now) { return now.knobs.baseline_name == "run 1"; }));
  write_run("second", 4, 1'000'000'000);
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) {
    return now.ledger->rows.size() == 2 &&
           now.ledger->rows[0].status == trace::model::RunStatus::kDone;  // not while it is written
  }));
  EXPECT_EQ(controller->snapshot()->knobs.baseline_name, "run 1");
  controller->execute(ui::state::SetKnob{"steps", "50"});
  EXPECT_EQ(controller->snapshot()->knobs.baseline_name, "run 2");
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

TEST_F(ControllerTest, ARepetitionIsNamedAfterWhatItRepeats) {
  write_run("cap 60", 60);
  open();
  ASSERT_TRUE(
      becomes([](const ui::state::Snapshot& now) { return !now.knobs.baseline_name.empty(); }));
  EXPECT_EQ(controller->snapshot()->knobs.next_name, "cap 60 again");
  write_run("cap 60 again", 60, 1'000'000'000);
  EXPECT_TRUE(becomes(
      [](const ui::state::Snapshot& now) { return now.knobs.next_name == "cap 60 again 2"; }));
}

TEST_F(ControllerTest, ARunThatIsRenamedHasItsNewNameEverywhere) {
  const auto run = write_run("cap 60", 60);
  open();
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) {
    return now.run && now.run->figures.info.name == "cap 60" &&
           now.knobs.next_name == "cap 60 again";
  }));
  ui::state::EditRuns change;
  change.folders = {run.string()};
  change.name = "wide";
  controller->execute(change);
  EXPECT_TRUE(becomes([](const ui::state::Snapshot& now) {
    return now.ledger->rows[0].name == "wide" && now.run->figures.info.name == "wide" &&
           now.knobs.next_name == "wide again";
  }));
}

// Of another program's run, as long as it is on screen.
TEST(KnobEditor, ShowsWhatARunTellsAndIsAsBeforeBehindIt) {
  trace::tuning::ToldSettings told;
  told.settings.sharding_strategy = trace::job::Strategy::kFullShard;
  told.settings.backward_prefetch = trace::job::BackwardPrefetch::kNone;
  told.knobs = {trace::job::find_knob("sharding_strategy"),
                trace::job::find_knob("backward_prefetch")};
  KnobEditor knobs;
  ASSERT_TRUE(knobs.set("learning_rate", "0.5"));
  const trace::job::Settings own = knobs.next();
  EXPECT_FALSE(knobs.show_told("", nullptr));
  EXPECT_TRUE(knobs.show_told("/runs/a", &told));
  EXPECT_EQ(knobs.next().sharding_strategy, trace::job::Strategy::kFullShard);
  EXPECT_EQ(knobs.draft({}).told, told.knobs);
  EXPECT_EQ(knobs.draft({}).baseline.backward_prefetch, trace::job::BackwardPrefetch::kNone);
  EXPECT_EQ(knobs.next().learning_rate, 0.5) << "which it does not tell";
  ASSERT_TRUE(knobs.set("backward_prefetch", "pre"));  // as by default
  ASSERT_TRUE(knobs.set("steps", "77"));
  EXPECT_TRUE(knobs.show_told("/runs/b", &told));
  EXPECT_EQ(knobs.next().backward_prefetch, trace::job::BackwardPrefetch::kNone) << "of this run";
  EXPECT_TRUE(knobs.show_told("/runs/a", &told));
  EXPECT_EQ(knobs.next().backward_prefetch, trace::job::BackwardPrefetch::kPre) << "as it was left";
  ASSERT_TRUE(knobs.reset("backward_prefetch"));
  EXPECT_EQ(knobs.next().backward_prefetch, trace::job::BackwardPrefetch::kNone);
  EXPECT_TRUE(knobs.show_told("", nullptr));
  trace::job::Settings expected = own;
  expected.steps = 77;
  EXPECT_EQ(knobs.next(), expected);
  EXPECT_EQ(knobs.draft({}).baseline, trace::job::Settings{});
}

// What is chosen as a whole is so behind the run, too; what nobody chose gives way to what is told.
TEST(KnobEditor, TakesSettingsThatAreChosenWhileARunTellsOthers) {
  trace::tuning::ToldSettings told;
  told.settings.sharding_strategy = trace::job::Strategy::kFullShard;
  told.knobs = {trace::job::find_knob("sharding_strategy")};
  trace::job::Settings chosen;
  chosen.sharding_strategy = trace::job::Strategy::kZero1;
  KnobEditor knobs;
  knobs.show_told("/runs/a", &told);
  knobs.replace(chosen);
  EXPECT_EQ(knobs.next().sharding_strategy, trace::job::Strategy::kZero1);
  knobs.show_told("", nullptr);
  EXPECT_EQ(knobs.next().sharding_strategy, trace::job::Strategy::kZero1);
  KnobEditor other;
  other.show_told("/runs/a", &told);
  other.begin_with(chosen);
  EXPECT_TRUE(other.show_told("/runs/a", &told));
  EXPECT_EQ(other.next().sharding_strategy, trace::job::Strategy::kFullShard);
  other.show_told("", nullptr);
  EXPECT_EQ(other.next().sharding_strategy, trace::job::Strategy::kZero1);
}

// It is none of the run before if only what is told is as recorded.
TEST(KnobEditor, NamesARunBesideOnesOwnWhateverAnotherProgramTells) {
  trace::tuning::ToldSettings told;
  told.settings.sharding_strategy = trace::job::Strategy::kFullShard;
  told.knobs = {trace::job::find_knob("sharding_strategy")};
  KnobEditor knobs;
  knobs.set_baseline({}, "run 1", "first");
  ASSERT_TRUE(knobs.set("bucket_cap_mb", "5"));
  ASSERT_TRUE(knobs.reset("bucket_cap_mb"));
  EXPECT_EQ(knobs.draft({"first"}).next_name, "first again");
  knobs.show_told("/runs/a", &told);
  EXPECT_EQ(knobs.draft({"first"}).next_name, "full_shard");
  ASSERT_TRUE(knobs.set("sharding_strategy", "ddp"));
  EXPECT_EQ(knobs.draft({"first"}).next_name, "first again");
}

TEST(KnobEditor, SaysOfARepetitionThatItIsOneWhateverItIsComparedWith) {
  KnobEditor knobs;
  knobs.set_baseline({}, "run 1", "first");
  ASSERT_TRUE(knobs.set("bucket_cap_mb", "5"));
  EXPECT_EQ(knobs.draft({"first"}).next_name, "cap 5");
  EXPECT_EQ(knobs.draft({"first", "cap 5"}).next_name, "cap 5 again");
  EXPECT_EQ(knobs.draft({"cap 5", "cap 5 again"}).next_name, "cap 5 again 2");
}

TEST_F(ControllerTest, SelectsSteps) {
  write_run("a", 25);
  open();
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.run && now.run->timeline; }));
  controller->execute(ui::state::SelectStep{1});
  EXPECT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.run->timeline->step == 1; }));
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

// Long after its end, when nothing of it is looked at any more.
TEST_F(ControllerTest, ARunThatTakesThePlaceOfTheOneOnScreenIsShownWithoutBeingAskedFor) {
  SyntheticOptions options;
  options.name = "shown";
  const auto written = [&](const std::filesystem::path& where, int steps) {
    const auto run = finished_run(where, options, steps);
    let_rest(run);
    return run;
  };
  const auto shown = written(runs, 6);
  const auto other = written(folder.path(), 9);
  open();
  ASSERT_TRUE(becomes([](const auto& now) { return now.run && now.ledger->rows.size() == 1; }));
  std::this_thread::sleep_for(kReadOnAfterEnd + std::chrono::milliseconds(500));
  std::filesystem::remove_all(shown);
  std::filesystem::rename(other, shown);
  EXPECT_TRUE(becomes([](const auto& now) {
    return now.run && now.run->figures.steps.size() == 9 && now.ledger->rows.size() == 1 &&
           now.ledger->rows[0].summary.steps_executed == 9;
  }));
}

TEST_F(ControllerTest, ShowingARunThatIsGoneSaysSo) {
  open();
  controller->execute(ui::state::ShowRun{(runs / "gone").string()});
  EXPECT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.notice_is_error; }));
}

}  // namespace
}  // namespace shardlens::app::session
