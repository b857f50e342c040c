#include "app/session/sweep/sweep_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <map>
#include <thread>
#include <vector>

#include "app/session/sweep/sweep_reader.h"
#include "tests/app/session/eventually.h"
#include "tests/app/session/synthetic_run.h"
#include "trace/base/wall_clock.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::session {
namespace {

using testing::HasSubstr;
using trace::model::RunStatus;
using ui::state::SweepPhase;

// Jobs that record a run at once; the run ends then too, or when the test says so.
class RecordingJobs {
 public:
  StartJob starter() {
    return [this](const launch::JobRequest& request, std::function<void()> on_news)
               -> trace::base::Result<std::unique_ptr<launch::RunningJob>> {
      const std::lock_guard lock(mutex_);
      const bool is_held = hold_after_ >= 0 && static_cast<int>(names_.size()) >= hold_after_;
      names_.push_back(request.name);
      auto job = std::make_unique<Job>(request, is_held, std::move(on_news));
      return job;
    };
  }
  // From that many runs on they do not end by themselves; -1: all do.
  void hold_after(int runs) {
    const std::lock_guard lock(mutex_);
    hold_after_ = runs;
  }
  std::vector<std::string> names() const {
    const std::lock_guard lock(mutex_);
    return names_;
  }

 private:
  class Job final : public launch::RunningJob {
   public:
    Job(const launch::JobRequest& request, bool is_held, std::function<void()> on_news)
        : on_news_(std::move(on_news)) {
      if (request.overwrite) remove_run(request);
      SyntheticOptions options;
      options.name = request.name;
      options.start_ns = trace::base::wall_clock_ns();
      options.settings = request.settings;
      options.tags = request.tags;
      SyntheticRun run(request.runs_dir, options);
      run.add_steps(static_cast<int>(request.settings.steps),
                    request.settings.bucket_cap_mb > 5 ? 1.5 : 1);
      run.finish(is_held ? RunStatus::kRunning : RunStatus::kDone);
      folder_ = run.folder();
      info_ = trace::store::read_run_info(folder_).value();
      has_ended_ = !is_held;
    }
    const std::filesystem::path& folder() const override { return folder_; }
    launch::JobStatus poll() const override {
      launch::JobStatus status;
      status.run = info_;
      if (!has_ended_) return status;
      status.phase = launch::JobStatus::Phase::kEnded;
      if (was_stopped_) {
        status.run.status = RunStatus::kStopped;
        status.stopped_by_user = true;
        (void)trace::store::update_run(folder_, status.run);
      }
      return status;
    }
    void request_stop() override {
      if (has_ended_) return;
      was_stopped_ = true;
      has_ended_ = true;
      on_news_();
    }
    void request_abort(std::string) override { request_stop(); }
    void kill_now() override { request_stop(); }

   private:
    static void remove_run(const launch::JobRequest& request) {
      for (const auto& run : trace::store::list_runs(request.runs_dir).runs) {
        if (run.name == request.name) std::filesystem::remove_all(run.folder);
      }
    }
    std::function<void()> on_news_;
    std::filesystem::path folder_;
    trace::model::RunInfo info_;
    std::atomic<bool> has_ended_ = false, was_stopped_ = false;
  };

  mutable std::mutex mutex_;
  std::vector<std::string> names_;
  int hold_after_ = -1;
};

struct SweepSessionTest : testing::Test {
  TemporaryFolder folder;
  std::filesystem::path runs = folder.path() / "runs";
  RecordingJobs jobs;
  ui::state::KnobDraft knobs;
  std::unique_ptr<JobQueue> queue;
  std::unique_ptr<SweepSession> session;
  Notice notice;

  SweepSessionTest() {
    std::filesystem::create_directory(runs);
    knobs.next.device = trace::job::DeviceChoice::kCpu;
    knobs.next.steps = 6;
    open();
  }
  ~SweepSessionTest() override { close(); }

  void open() {
    queue = std::make_unique<JobQueue>(jobs.starter(), notice, [] {});
    session = std::make_unique<SweepSession>(runs, *queue, notice, [] {});
  }
  void close() {
    session.reset();
    queue.reset();
  }
  std::shared_ptr<const ui::state::SweepView> view() {
    session->follow();
    return session->view(knobs.next, {});
  }
  template <typename Condition>
  bool becomes(Condition condition) {
    return eventually([&] {
      const auto now = view();
      return now && condition(*now);
    });
  }
  bool phase_becomes(SweepPhase phase) {
    return becomes([&](const auto& now) {
      return now.shown && now.shown->phase == phase && !now.shown->points.empty();
    });
  }
  bool is_idle() {
    return becomes([](const auto& now) { return now.running.empty(); });
  }
  void draw_up(const std::string& values = "1, 25", int repeats = 2) {
    session->open_card(knobs, "bucket_cap_mb");
    session->carry_out(ui::state::EditSweep{
        {.axes = {{"bucket_cap_mb", values}}, .name = "caps", .repeats = repeats}});
    ASSERT_TRUE(becomes([](const auto& now) { return now.card && now.card->is_checked; }));
  }
  void start() {
    draw_up();
    const auto started = session->start(knobs.next, {});
    ASSERT_TRUE(started) << started.error().message;
  }
  std::map<std::string, int> counted() const {
    std::map<std::string, int> counts;
    for (const auto& name : jobs.names()) ++counts[name];
    return counts;
  }
};

TEST_F(SweepSessionTest, IsMadeOnTheCardRunThroughTheQueueAndShown) {
  EXPECT_EQ(view(), nullptr) << "nobody asked";
  draw_up();
  const auto card = view()->card;
  EXPECT_TRUE(card->can_start()) << card->problem;
  EXPECT_EQ(card->points, 2u);
  EXPECT_EQ(card->runs, 4u);
  EXPECT_FALSE(card->seconds) << "no run tells how long one takes";
  ASSERT_TRUE(session->start(knobs.next, {}));
  EXPECT_EQ(view()->card, nullptr);
  ASSERT_TRUE(is_idle());
  ASSERT_TRUE(phase_becomes(SweepPhase::kDone));
  const auto shown = view()->shown;
  EXPECT_EQ(shown->name, "caps");
  ASSERT_EQ(shown->points.size(), 2u);
  EXPECT_EQ(shown->points[0].values, std::vector<std::string>{"1"});
  EXPECT_EQ(shown->points[0].runs.size(), 2u);
  EXPECT_EQ(shown->points[1].runs.size(), 2u);
  EXPECT_EQ(shown->best, 0u) << "the other takes half as long again";
  EXPECT_GT(shown->points[1].slower_by.value(), 0.3);
  EXPECT_THAT(notice.words().text, HasSubstr("The sweep “caps” is done. bucket_cap_mb=1"));
  EXPECT_FALSE(shown->banners.empty()) << "it ran on the CPU";
  EXPECT_EQ(counted().size(), 4u);
  EXPECT_EQ(jobs.names().size(), 4u);
  EXPECT_EQ(view()->names, std::vector<std::string>{"caps"});
  const auto again = session->view(knobs.next, {});
  EXPECT_EQ(session->view(knobs.next, {})->shown, again->shown) << "nothing is new";
}

TEST_F(SweepSessionTest, ACheckedCardIsNewsToAWindowThatWaits) {
  session->open_card(knobs, "bucket_cap_mb");
  ASSERT_TRUE(is_idle()) << "what the library holds was read";
  for (const std::string values : {"1, 25", "1, 4, 25"}) {
    while (session->follow()) continue;
    session->carry_out(
        ui::state::EditSweep{{.axes = {{"bucket_cap_mb", values}}, .name = "caps", .repeats = 1}});
    EXPECT_FALSE(session->view(knobs.next, {})->card->is_checked);
    // Other news may come before it.
    EXPECT_TRUE(eventually([&] {
      return session->follow() && session->view(knobs.next, {})->card->is_checked;
    })) << values;
  }
}

TEST_F(SweepSessionTest, StoppedItKeepsWhatIsFinishedAndResumeGoesOn) {
  jobs.hold_after(2);
  start();
  ASSERT_TRUE(eventually([&] { return jobs.names().size() == 3; }));
  ASSERT_TRUE(becomes([](const auto& now) {
    return now.running == "caps" && now.shown && now.shown->runs_done == 2 &&
           now.shown->running_point;
  }));
  EXPECT_EQ(view()->shown->phase, SweepPhase::kRunning);
  session->carry_out(ui::state::StopSweep{});
  ASSERT_TRUE(is_idle());
  EXPECT_THAT(notice.words().text, HasSubstr("is stopped"));
  ASSERT_TRUE(phase_becomes(SweepPhase::kUnfinished));
  EXPECT_EQ(view()->shown->runs_left, 2u);
  jobs.hold_after(-1);
  session->carry_out(ui::state::ResumeSweep{"caps"});
  EXPECT_EQ(notice.words().text, "") << "it is no longer stopped";
  ASSERT_TRUE(phase_becomes(SweepPhase::kDone)) << notice.words().text;
  const std::string stopped = jobs.names()[2];
  for (const auto& [name, count] : counted()) EXPECT_EQ(count, name == stopped ? 2 : 1) << name;
}

TEST_F(SweepSessionTest, ClosedBetweenTwoRunsItStartsNoOther) {
  jobs.hold_after(1);
  start();
  ASSERT_TRUE(eventually([&] { return jobs.names().size() == 2; }));
  session->carry_out(ui::state::StopSweep{});
  ASSERT_TRUE(is_idle());
  session.reset();
  jobs.hold_after(-1);
  const auto this_thread = std::this_thread::get_id();
  std::atomic<int> changes = 0;  // that the runner's thread tells of
  std::atomic<bool> is_counted = false, closes = false;
  auto runner = std::make_unique<SweepRunner>(runs, *queue, notice, [&] {
    if (std::this_thread::get_id() == this_thread || ++changes != 3) return;
    // It was begun, a run was started, and that run is counted.
    is_counted = true;
    eventually([&] { return closes.load(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  });
  sweep::SweepRequest request;
  request.name = "caps";
  runner->start(request);
  ASSERT_TRUE(eventually([&] { return is_counted.load(); }));
  EXPECT_EQ(jobs.names().size(), 3u);
  closes = true;
  runner.reset();
  ASSERT_TRUE(eventually([&] { return queue->state().phase == ui::state::JobPhase::kNone; }));
  EXPECT_EQ(jobs.names().size(), 3u);
}

// No run comes or goes when it ends there, and what became of it here before does not count.
TEST_F(SweepSessionTest, OneThatAnotherProgramGoesOnWithIsFollowedToItsEnd) {
  jobs.hold_after(2);
  start();
  ASSERT_TRUE(eventually([&] { return jobs.names().size() == 3; }));
  session->carry_out(ui::state::StopSweep{});
  ASSERT_TRUE(is_idle());
  ASSERT_TRUE(phase_becomes(SweepPhase::kUnfinished));
  sweep::SweepRequest request;
  request.runs_dir = runs;
  request.name = "caps";
  {
    const auto elsewhere = sweep::Sweep::open(request, measured_run);
    ASSERT_TRUE(elsewhere) << elsewhere.error().message;
    session->follow_library();
    EXPECT_TRUE(phase_becomes(SweepPhase::kElsewhere));
  }
  EXPECT_TRUE(phase_becomes(SweepPhase::kUnfinished));
}

TEST_F(SweepSessionTest, TheWindowsOwnStopEndsTheSweepToo) {
  jobs.hold_after(0);
  start();
  ASSERT_TRUE(eventually([&] { return queue->state().phase == ui::state::JobPhase::kRunning; }));
  queue->stop();
  ASSERT_TRUE(is_idle());
  EXPECT_THAT(notice.words().text, HasSubstr("is stopped"));
  EXPECT_EQ(jobs.names().size(), 1u) << "no further run begins";
}

TEST_F(SweepSessionTest, WhenTheWindowGoesAFollowingOneFindsItAndGoesOn) {
  jobs.hold_after(3);
  start();
  ASSERT_TRUE(eventually([&] { return jobs.names().size() == 4; }));
  close();
  jobs.hold_after(-1);
  open();
  session->carry_out(ui::state::ShowSweep{});
  ASSERT_TRUE(phase_becomes(SweepPhase::kUnfinished));
  EXPECT_EQ(view()->shown->runs_done, 3u);
  session->carry_out(ui::state::ResumeSweep{"caps"});
  ASSERT_TRUE(phase_becomes(SweepPhase::kDone)) << notice.words().text;
  const std::string last = jobs.names()[3];
  for (const auto& [name, count] : counted()) EXPECT_EQ(count, name == last ? 2 : 1) << name;
}

TEST_F(SweepSessionTest, ARunWhoseFolderWasDeletedIsLeftAgain) {
  start();
  ASSERT_TRUE(phase_becomes(SweepPhase::kDone));
  ASSERT_TRUE(is_idle());
  const auto library = trace::store::list_runs(runs).runs;
  ASSERT_EQ(library.size(), 4u);
  std::filesystem::remove_all(library.front().folder);
  session->follow_library();
  ASSERT_TRUE(phase_becomes(SweepPhase::kUnfinished));
  EXPECT_EQ(view()->shown->runs_left, 1u);
  session->carry_out(ui::state::ResumeSweep{"caps"});
  ASSERT_TRUE(phase_becomes(SweepPhase::kDone));
  EXPECT_EQ(jobs.names().size(), 5u);
}

TEST_F(SweepSessionTest, WaitsForTheJobThatRunsAndLeavesItAloneWhenStopped) {
  jobs.hold_after(0);
  queue->start({.settings = knobs.next, .runs_dir = runs, .name = "mine"}, false);
  ASSERT_TRUE(eventually([&] { return queue->state().phase == ui::state::JobPhase::kRunning; }));
  start();
  ASSERT_TRUE(eventually([&] { return queue->state().queued.size() == 1; }));
  session->carry_out(ui::state::StopSweep{});
  ASSERT_TRUE(is_idle());
  EXPECT_TRUE(queue->state().queued.empty());
  EXPECT_EQ(queue->state().phase, ui::state::JobPhase::kRunning);
  EXPECT_EQ(jobs.names(), std::vector<std::string>{"mine"});
}

TEST_F(SweepSessionTest, OneSweepRunsAtATime) {
  jobs.hold_after(0);
  start();
  ASSERT_TRUE(becomes([](const auto& now) { return now.running == "caps"; }));
  session->carry_out(ui::state::ResumeSweep{"another"});
  view();
  EXPECT_THAT(notice.words().text, HasSubstr("The sweep “caps” runs"));
  EXPECT_TRUE(notice.words().is_error);
}

TEST_F(SweepSessionTest, ContradictionsAreSaidAtTheirPointBeforeAnythingStarts) {
  session->open_card(knobs, "");
  knobs.next.reshard_after_forward = trace::job::AutoBool::kFalse;
  session->carry_out(ui::state::EditSweep{{.axes = {{"sharding_strategy", "ddp, full_shard"}}}});
  ASSERT_TRUE(becomes([](const auto& now) { return now.card && now.card->is_checked; }));
  const auto card = view()->card;
  ASSERT_EQ(card->refused.size(), 1u);
  EXPECT_EQ(card->refused[0].point, "sharding_strategy=full_shard");
  EXPECT_THAT(card->refused[0].reason, HasSubstr("reshard_after_forward"));
  EXPECT_FALSE(session->start(knobs.next, {}));
  EXPECT_TRUE(jobs.names().empty());
}

TEST_F(SweepSessionTest, WrongValuesAndTakenNamesAreSaid) {
  const auto problem_of = [&](const ui::state::SweepDraft& draft) {
    session->carry_out(ui::state::EditSweep{draft});
    EXPECT_TRUE(becomes([](const auto& now) { return now.card && now.card->is_checked; }));
    return view()->card->problem;
  };
  start();
  ASSERT_TRUE(phase_becomes(SweepPhase::kDone));
  session->open_card(knobs, "bucket_cap_mb");
  EXPECT_THAT(problem_of({.axes = {{"bucket_cap_mb", "1, much"}}}), HasSubstr("bucket_cap_mb"));
  EXPECT_THAT(problem_of({.axes = {{"bucket_cap_mb", ""}}}), HasSubstr("give values"));
  EXPECT_THAT(problem_of({.axes = {{"bucket_cap_mb", "4"}}}), HasSubstr("two points"));
  EXPECT_THAT(problem_of({.axes = {{"bucket_cap_mb", "4, 8"}}, .name = "caps"}),
              HasSubstr("choose another name"));
  EXPECT_THAT(problem_of({.axes = {{"bucket_cap_mb", "4, 8"}}, .name = "../caps"}),
              HasSubstr("cannot be the name"));
  EXPECT_EQ(problem_of({.axes = {{"bucket_cap_mb", "4, 8"}}}), "");
}

TEST_F(SweepSessionTest, ADamagedSweepSaysSoAndOthersCanBeChosen) {
  start();
  ASSERT_TRUE(phase_becomes(SweepPhase::kDone));
  std::filesystem::create_directories(runs / ".sweeps/bad");
  std::ofstream(runs / ".sweeps/bad/sweep.json") << "{";
  session->carry_out(ui::state::ShowSweep{"bad"});
  ASSERT_TRUE(becomes([](const auto& now) { return now.shown && now.shown->name == "bad"; }));
  EXPECT_THAT(view()->shown->problem, HasSubstr("damaged"));
  EXPECT_THAT(view()->names, testing::UnorderedElementsAre("bad", "caps"));
  session->carry_out(ui::state::ShowSweep{"caps"});
  EXPECT_TRUE(phase_becomes(SweepPhase::kDone));
}

TEST_F(SweepSessionTest, WhatIsProposedFirstIsWhatWasChanged) {
  EXPECT_EQ(proposed_sweep(knobs, "overlap_comm").axes.front().values, "false, true");
  knobs.baseline = knobs.next;
  EXPECT_EQ(proposed_sweep(knobs, "").axes.front().knob, "bucket_cap_mb");
  knobs.next.steps = 77;
  knobs.next.learning_rate = 0.5;
  EXPECT_EQ(proposed_sweep(knobs, "").axes.front().knob, "bucket_cap_mb") << "no step is faster";
  knobs.next.batch_per_rank = 4;
  EXPECT_EQ(proposed_sweep(knobs, "").axes.front().knob, "batch_per_rank");
}

TEST_F(SweepSessionTest, WhatItWillTakeFollowsFromARunOfThatJob) {
  SyntheticOptions options;
  options.name = "before";
  options.settings = knobs.next;
  SyntheticRun run(runs, options);
  run.add_steps(6);
  run.finish();
  const auto info = trace::store::read_run_info(run.folder()).value();
  const double whole = static_cast<double>(info.end_ns - info.start_ns) / 1e9;
  ui::state::LedgerRow row;
  row.folder = run.folder().string();
  row.ordinal = "run 1";
  row.settings = knobs.next;
  const std::vector<ui::state::LedgerRow> rows{row};
  session->open_card(knobs, "bucket_cap_mb");
  ASSERT_TRUE(eventually([&] {
    const auto now = session->view(knobs.next, rows);
    return now->card->is_checked;
  }));
  const auto card = session->view(knobs.next, rows)->card;
  EXPECT_EQ(card->expected_from, "run 1");
  EXPECT_NEAR(card->seconds.value(), whole * static_cast<double>(card->runs), 0.01);
}

// ---- a search
// ------------------------------------------------------------------------------------

struct SearchSessionTest : SweepSessionTest {
  void draw_up_search(std::vector<ui::state::SweepAxis> axes,
                      const std::string& goal = "step_time") {
    session->open_search_card();
    session->carry_out(ui::state::EditSweep{
        {.axes = std::move(axes), .name = {}, .search = ui::state::SearchDraft{goal, 10}}});
    ASSERT_TRUE(becomes([](const auto& now) { return now.card && now.card->is_checked; }));
  }
  void start_search() {
    draw_up_search({{"bucket_cap_mb", "1, 2, 30"}});
    const auto started = session->start(knobs.next, {});
    ASSERT_TRUE(started) << started.error().message;
  }
  // Each run may take as long as one is waited for.
  std::shared_ptr<const ui::state::ShownSweep> shown_end() {
    const auto has_ended = [](const auto& now) {
      return now.running.empty() && now.shown && now.shown->search && now.shown->is_complete();
    };
    std::size_t begun = 0;
    do {
      begun = jobs.names().size();
      if (becomes(has_ended)) return view()->shown;
    } while (jobs.names().size() > begun);
    return nullptr;
  }
};

// Steps of a cap above 5 take half as long again. It starts with 25; of these runs nothing can be
// predicted, so that all are tried.
TEST_F(SearchSessionTest, FindsTheBestConfirmsItAndSaysHowSureItIs) {
  start_search();
  const auto shown = shown_end();
  ASSERT_NE(shown, nullptr) << notice.words().text;
  ASSERT_TRUE(shown->best);
  EXPECT_LT(shown->points[*shown->best].settings.bucket_cap_mb, 5);
  EXPECT_THAT(shown->why, testing::AllOf(HasSubstr("instead of"), HasSubstr("(95 %, by ")));
  EXPECT_THAT(shown->search->ended, HasSubstr("likely to win beyond noise"));
  EXPECT_EQ(shown->phase, SweepPhase::kDone);
  EXPECT_THAT(notice.words().text, HasSubstr("is done"));
  EXPECT_EQ(shown->points[0].runs.size(), 3u);
  EXPECT_EQ(shown->points[*shown->best].runs.size(), 3u);
  EXPECT_EQ(shown->best_first.front(), *shown->best);
  EXPECT_EQ(shown->predicted_from, "") << "it predicts by itself";
  for (const auto& [name, count] : counted()) EXPECT_EQ(count, 1) << name;
}

TEST_F(SearchSessionTest, GoesOnAsASearchAfterTheWindowWasClosed) {
  jobs.hold_after(2);
  start_search();
  ASSERT_TRUE(eventually([&] { return view() != nullptr && jobs.names().size() == 3; }));
  close();
  jobs.hold_after(-1);
  open();
  session->carry_out(ui::state::ShowSweep{"tune bucket_cap_mb"});
  ASSERT_TRUE(becomes([](const auto& now) { return now.shown && now.shown->search.has_value(); }));
  EXPECT_FALSE(view()->shown->is_complete());
  session->carry_out(ui::state::ResumeSweep{"tune bucket_cap_mb"});
  const auto shown = shown_end();
  ASSERT_NE(shown, nullptr) << notice.words().text;
  EXPECT_LT(shown->runs_done, shown->points.size() * 3) << "not the whole grid";
  const auto counts = counted();
  EXPECT_EQ(std::ranges::count_if(counts, [](const auto& run) { return run.second > 1; }), 1)
      << "but what was interrupted nothing runs twice";
}

// Nothing tells how long the others would take, but what they would need is known: of that much as
// the start.
TEST_F(SearchSessionTest, AskedAgainForAnotherGoalItPredictsForThatOne) {
  jobs.hold_after(1);
  start_search();
  ASSERT_TRUE(becomes([](const auto& now) { return now.shown && now.shown->runs_done == 1; }));
  EXPECT_FALSE(view()->shown->points[1].searched->predicted);
  session->carry_out(ui::state::StopSweep{});
  ASSERT_TRUE(is_idle());
  draw_up_search({{"bucket_cap_mb", "1, 2, 30"}}, "memory");
  ASSERT_TRUE(session->start(knobs.next, {}));
  ASSERT_TRUE(becomes([](const auto& now) {
    return now.shown && now.shown->search && now.shown->search->goal == "memory";
  }));
  const auto shown = view()->shown;
  EXPECT_EQ(shown->points[0].runs.size(), 1u) << "what was run counts";
  ASSERT_TRUE(shown->points[1].searched->predicted);
  EXPECT_NEAR(*shown->points[1].searched->predicted, *shown->points[0].searched->measured,
              *shown->points[0].searched->measured);
}

TEST_F(SearchSessionTest, ChoosesStrategiesAndTheirKnobsItself) {
  for (const std::string goal : {"step_time", "tokens_per_s", "memory"}) {
    draw_up_search({}, goal);
    const auto card = view()->card;
    EXPECT_EQ(card->problem, "");
    EXPECT_TRUE(card->can_start());
    EXPECT_GT(card->points, 20u) << goal;
    EXPECT_EQ(card->name, "tune for " + goal);
    session->carry_out(ui::state::CloseSweepCard{});
  }
}

TEST_F(SearchSessionTest, LeavesOutWhatCannotBeRunButNotTheStart) {
  knobs.next.reshard_after_forward = trace::job::AutoBool::kFalse;
  draw_up_search({{"sharding_strategy", "ddp, full_shard, shard_grad_op"}});
  EXPECT_EQ(view()->card->points, 2u);
  EXPECT_THAT(view()->card->doubles, testing::Contains(HasSubstr("full_shard")));
  EXPECT_TRUE(view()->card->can_start());
  session->carry_out(ui::state::CloseSweepCard{});
  knobs.next.sharding_strategy = trace::job::Strategy::kFullShard;
  draw_up_search({});
  EXPECT_FALSE(view()->card->can_start());
}

}  // namespace
}  // namespace shardlens::app::session
