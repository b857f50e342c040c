#include "app/sweep/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <set>

#include "made_up_sweep.h"
#include "trace/base/wall_clock.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::sweep {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using trace::base::ErrorKind;
using trace::model::RunInfo;
using trace::model::RunStatus;

// A library in which runs are made up, each of as many steps as it was asked for.
struct SweepTest : testing::Test {
  trace::base::TemporaryFolder folder = trace::base::TemporaryFolder::create().value();
  SweepRequest request;
  std::int64_t steps_in_files = 0;  // 0: all
  std::vector<std::string> made;    // names of runs, as they were begun

  SweepTest() {
    request.runs_dir = folder.path();
    request.name = "caps";
    request.points = made_up_plan({1, 4, 25}, 2).points;
    request.repeats = 2;
    request.stops_early = false;
  }

  ReadRun reader() const {
    return [this](const fs::path& run) -> trace::base::Result<WholeRun> {
      TRY_ASSIGN(const auto info, trace::store::read_run_info(run));
      const auto steps = steps_in_files > 0 ? steps_in_files : info.settings.steps;
      return WholeRun{.measure = *measured(info.settings.bucket_cap_mb).measure,
                      .last_step = steps - 1,
                      .steps_measured = steps - 3};
    };
  }
  trace::base::Result<Sweep> open() const { return Sweep::open(request, reader()); }
  Sweep looked_at() const {
    auto sweep = Sweep::look_at(request.runs_dir, request.name, reader());
    if (!sweep) throw std::runtime_error(sweep.error().message);
    return std::move(*sweep);
  }
  Sweep opened() const {
    auto sweep = open();
    if (!sweep) throw std::runtime_error(sweep.error().message);
    return std::move(*sweep);
  }

  RunInfo begun(const launch::JobRequest& job) {
    auto run = launch::check_job(job, {}).value();
    run.start_ns = trace::base::wall_clock_ns();
    const auto at = trace::store::create_run(job.runs_dir, run, job.overwrite);
    if (!at) throw std::runtime_error(at.error().message);
    run.folder = at->string();
    made.push_back(run.name);
    return run;
  }
  launch::JobStatus ended(RunInfo run, RunStatus status, const std::string& reason = "") {
    run.status = status;
    run.reason = reason;
    run.end_ns = run.start_ns + 1'000'000'000;
    EXPECT_TRUE(trace::store::update_run(run.folder, run));
    launch::JobStatus job;
    job.phase = launch::JobStatus::Phase::kEnded;
    job.run = run;
    return job;
  }
  // Makes `count` runs as the sweep asks for them; false: it asks for no more.
  bool make(Sweep& sweep, int count) {
    for (int i = 0; i < count; ++i) {
      const auto slot = sweep.next();
      if (!slot) return false;
      const auto job = sweep.request_for(*slot).value();
      EXPECT_TRUE(sweep.take(*slot, ended(begun(job), RunStatus::kDone)).value());
    }
    return true;
  }
  std::multiset<std::string> made_names() const { return {made.begin(), made.end()}; }
};

TEST_F(SweepTest, RunsEachPointInEveryRoundAndTagsItsRuns) {
  Sweep sweep = opened();
  EXPECT_FALSE(make(sweep, 100));
  EXPECT_EQ(made.size(), 6u);
  EXPECT_EQ(sweep.results().size(), 6u);
  for (const auto& run : trace::store::list_runs(folder.path()).runs) {
    EXPECT_EQ(run.tags, std::vector<std::string>{"caps"});
    EXPECT_THAT(run.name, testing::StartsWith("caps, cap "));
  }
}

// At every moment of a run's life; nothing finished is made again, and nothing is lost.
TEST_F(SweepTest, KilledAtAnyMomentItGoesOnWhereItWas) {
  std::mt19937_64 random(3);
  int runs = 0;
  for (;;) {
    Sweep sweep = opened();
    const auto slot = sweep.next();
    if (!slot) break;
    ++runs;
    const auto job = sweep.request_for(*slot).value();
    const auto moment = random() % 4;
    if (moment == 0) continue;  // before it began
    auto run = begun(job);
    if (moment == 1) {  // while it ran: what it half made makes way
      made.pop_back();
      continue;
    }
    const auto end = ended(run, RunStatus::kDone);
    if (moment == 2) continue;  // before the sweep heard of it
    ASSERT_TRUE(sweep.take(*slot, end).value());
  }
  EXPECT_EQ(made.size(), 6u) << runs;
  EXPECT_EQ(made_names().size(), std::set<std::string>(made.begin(), made.end()).size());
  EXPECT_EQ(trace::store::list_runs(folder.path()).runs.size(), 6u);
  EXPECT_GT(runs, 8) << "it was hardly ever killed";
}

TEST_F(SweepTest, ARunWithoutAllOfItsStepsIsMadeAgain) {
  {
    Sweep sweep = opened();
    make(sweep, 1);
  }
  steps_in_files = 5;  // after a power cut
  Sweep sweep = opened();
  EXPECT_EQ(sweep.found(), 0u);
  steps_in_files = 0;
  make(sweep, 1);
  EXPECT_EQ(made[0], made[1]);
  EXPECT_EQ(trace::store::list_runs(folder.path()).runs.size(), 1u);
}

TEST_F(SweepTest, GoesOnWithoutBeingToldItsPointsAndWithMoreRepeats) {
  {
    Sweep sweep = opened();
    make(sweep, 6);
  }
  request.points.reset();
  request.repeats = 3;
  Sweep sweep = opened();
  EXPECT_EQ(sweep.found(), 6u);
  EXPECT_FALSE(make(sweep, 100));
  EXPECT_EQ(made.size(), 9u);
}

TEST_F(SweepTest, ItsRunsAreMeasuredWithSettingsThatARealJobCanTake) {
  for (auto& settings : request.points->settings) {
    settings.lora_rank = 4;
    settings.save_every = 2;
  }
  Sweep sweep = opened();
  const auto slot = sweep.next();
  ASSERT_TRUE(slot);
  const auto job = sweep.request_for(*slot).value();
  EXPECT_TRUE(job.is_measured);
  EXPECT_EQ(job.settings.save_model, trace::job::SaveModel::kAuto);
  EXPECT_EQ(job.settings.save_every, 2);
}

TEST_F(SweepTest, RefusesOtherSettingsUnderTheSameName) {
  {
    Sweep sweep = opened();
    make(sweep, 1);
  }
  for (auto& settings : request.points->settings) settings.steps += 1;
  const auto refused = open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("steps:"), HasSubstr("--overwrite")));
  request.overwrite = true;
  Sweep sweep = opened();
  EXPECT_EQ(sweep.found(), 0u);
  EXPECT_FALSE(make(sweep, 100));
  EXPECT_EQ(made.size(), 7u);
  EXPECT_EQ(trace::store::list_runs(folder.path()).runs.size(), 6u);
}

TEST_F(SweepTest, RefusesNamesThatOtherRunsHaveBeforeAnythingRuns) {
  begun({.settings = request.points->settings[1],
         .runs_dir = folder.path(),
         .name = "caps, cap 4, run 2"});
  const auto refused = open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("'caps, cap 4, run 2'"),
                                             HasSubstr("another name"), HasSubstr("rename")));
  EXPECT_TRUE(sweep_names(folder.path()).empty());
}

TEST_F(SweepTest, AFailureIsAResultThatStaysUntilItIsToBeTriedAgain) {
  {
    Sweep sweep = opened();
    const auto slot = *sweep.next();
    const auto run = begun(sweep.request_for(slot).value());
    EXPECT_TRUE(sweep.take(slot, ended(run, RunStatus::kFailed, "rank 1 was killed")).value());
  }
  EXPECT_EQ(opened().results().begin()->second.failure, "rank 1 was killed");
  request.retries_failed = true;
  Sweep sweep = opened();
  EXPECT_EQ(sweep.found(), 0u);
  make(sweep, 100);
  EXPECT_EQ(made.size(), 7u);
  EXPECT_EQ(trace::store::list_runs(folder.path()).runs.size(), 6u);
}

TEST_F(SweepTest, AFailureIsRunOnceMoreInTheEndAlsoAfterTheProgramWasKilled) {
  Slot slot;
  {
    Sweep sweep = opened();
    slot = *sweep.next();
    const auto run = begun(sweep.request_for(slot).value());
    EXPECT_TRUE(sweep.take(slot, ended(run, RunStatus::kFailed, "an accident")).value());
    make(sweep, 4);  // all that does not fail: two other points, twice each
    EXPECT_EQ(sweep.next(), slot);
    begun(sweep.request_for(slot).value());  // and it is killed
  }
  {
    Sweep sweep = opened();
    EXPECT_EQ(sweep.next(), slot);
    ended(begun(sweep.request_for(slot).value()), RunStatus::kDone);  // it does not hear of that
  }
  {
    Sweep sweep = opened();
    EXPECT_TRUE(sweep.results().at(slot).measure);
    EXPECT_EQ(sweep.results().at(slot).failed_before, "an accident");
    EXPECT_EQ(sweep.next()->point, slot.point);
    EXPECT_FALSE(make(sweep, 100));
    EXPECT_EQ(sweep.results().size(), 6u);
  }
  EXPECT_EQ(trace::store::list_runs(folder.path()).runs.size(), 6u);
  EXPECT_EQ(opened().results().at(slot).failed_before, "an accident");
}

TEST_F(SweepTest, KeepsWhatASearchPredictedOfARun) {
  const PredictedCost predicted{1e8, 2e6};
  Slot slot;
  {
    Sweep sweep = opened();
    slot = *sweep.next();
    const auto run = begun(sweep.request_for(slot).value());
    EXPECT_TRUE(sweep.take(slot, ended(run, RunStatus::kDone), predicted).value());
    EXPECT_EQ(sweep.results().at(slot).predicted, predicted);
  }
  EXPECT_EQ(opened().results().at(slot).predicted, predicted);
}

// Its cost is of another kind by then.
TEST_F(SweepTest, WhatWasPredictedForAnotherGoalIsNotKept) {
  request.search = SearchPlan{.goal = Goal::kStepTime};
  const Slot slot{0, 0};
  {
    Sweep sweep = opened();
    const auto run = begun(sweep.request_for(slot).value());
    EXPECT_TRUE(sweep.take(slot, ended(run, RunStatus::kDone), PredictedCost{1e8, 2e6}).value());
  }
  request.search->budget_seconds *= 2;
  EXPECT_TRUE(opened().results().at(slot).predicted);
  request.search->goal = Goal::kMemory;
  const Sweep sweep = opened();
  EXPECT_TRUE(sweep.results().at(slot).measure) << "that is of any goal";
  EXPECT_FALSE(sweep.results().at(slot).predicted);
}

TEST_F(SweepTest, ASearchThatIsAskedForAgainRunsOnceMoreWhatFailedOnce) {
  request.search = SearchPlan{};
  const Slot slot{1, 0};
  const auto fail = [&](const std::string& reason) {
    Sweep sweep = opened();
    EXPECT_FALSE(sweep.results().contains(slot)) << "before " << reason;
    const auto run = begun(sweep.request_for(slot).value());
    EXPECT_TRUE(sweep.take(slot, ended(run, RunStatus::kFailed, reason)).value());
    EXPECT_EQ(sweep.results().at(slot).failure, reason) << "while it goes on";
  };
  fail("an accident");
  EXPECT_EQ(looked_at().results().at(slot).failure, "an accident");
  fail("another one");
  const Sweep sweep = opened();
  EXPECT_EQ(sweep.results().at(slot).failure, "another one");
  EXPECT_EQ(sweep.results().at(slot).failed_before, "an accident");
  EXPECT_EQ(trace::store::list_runs(folder.path()).runs.size(), 1u);
}

// Without it there is nothing to search from.
TEST_F(SweepTest, ASearchTriesItsStartAsOftenAsItIsAskedFor) {
  request.search = SearchPlan{};
  for (const std::string reason : {"the GPU was taken", "it still was", "and again"}) {
    Sweep sweep = opened();
    EXPECT_TRUE(sweep.results().empty()) << "before: " << reason;
    const auto run = begun(sweep.request_for({0, 0}).value());
    EXPECT_TRUE(sweep.take({0, 0}, ended(run, RunStatus::kFailed, reason)).value());
  }
}

TEST_F(SweepTest, WhatFailsASecondTimeStaysSo) {
  Sweep sweep = opened();
  const auto slot = *sweep.next();
  for (const char* reason : {"first", "second"}) {
    const auto run = begun(sweep.request_for(slot).value());
    EXPECT_TRUE(sweep.take(slot, ended(run, RunStatus::kFailed, reason)).value());
    make(sweep, 4);
  }
  EXPECT_FALSE(sweep.next());
  EXPECT_EQ(sweep.results().at(slot).failure, "second");
  EXPECT_EQ(sweep.results().at(slot).failed_before, "first");
  EXPECT_EQ(trace::store::list_runs(folder.path()).runs.size(), 5u);
}

TEST_F(SweepTest, ARunThatItsUserStoppedIsMadeAgain) {
  Sweep sweep = opened();
  const auto slot = *sweep.next();
  auto stopped = ended(begun(sweep.request_for(slot).value()), RunStatus::kStopped);
  stopped.stopped_by_user = true;
  EXPECT_FALSE(sweep.take(slot, stopped).value());
  EXPECT_EQ(sweep.next(), slot);
}

TEST_F(SweepTest, ARunWhoseEndCouldNotBeSavedEndsTheSweep) {
  Sweep sweep = opened();
  const auto slot = *sweep.next();
  auto end = ended(begun(sweep.request_for(slot).value()), RunStatus::kDone);
  end.save_errors = {"no space left"};
  const auto taken = sweep.take(slot, end);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().kind, ErrorKind::kDiskFull);
  EXPECT_FALSE(sweep.results().contains(slot));
}

TEST_F(SweepTest, IsRunByOneProgramAtATime) {
  const Sweep sweep = opened();
  const auto second = open();
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("another program"));
}

// So that it can be looked at again where nobody may write.
TEST_F(SweepTest, OfOneThatIsThroughNothingIsWritten) {
  {
    Sweep sweep = opened();
    EXPECT_FALSE(make(sweep, 100));
  }
  const fs::path file = fs::path(folder.path()) / ".sweeps" / "caps" / "sweep.json";
  const auto long_ago = fs::last_write_time(file) - std::chrono::hours(1);
  fs::last_write_time(file, long_ago);
  EXPECT_EQ(opened().found(), 6u);
  EXPECT_EQ(fs::last_write_time(file), long_ago);
  request.repeats = 3;
  EXPECT_EQ(opened().found(), 6u);
  EXPECT_GT(fs::last_write_time(file), long_ago);
}

TEST_F(SweepTest, ADeletedRunIsMadeAgain) {
  {
    Sweep sweep = opened();
    make(sweep, 6);
  }
  fs::remove_all(trace::store::list_runs(folder.path()).runs.front().folder);
  Sweep sweep = opened();
  EXPECT_EQ(sweep.found(), 5u);
  EXPECT_FALSE(make(sweep, 100));
  EXPECT_EQ(made.size(), 7u);
}

}  // namespace
}  // namespace shardlens::app::sweep
