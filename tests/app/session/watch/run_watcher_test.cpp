#include "app/session/watch/run_watcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "tests/app/session/eventually.h"
#include "tests/app/session/synthetic_run.h"
#include "trace/analysis/run/run_analysis.h"
#include "trace/base/wall_clock.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::session {
namespace {

using namespace std::chrono_literals;
using trace::model::RunStatus;

// Until `done` holds of the published state, or ten seconds have passed.
template <typename Condition>
std::shared_ptr<const WatchState> wait_for(const RunWatcher& watcher, Condition done) {
  std::shared_ptr<const WatchState> state;
  const bool is_done = eventually([&] {
    state = watcher.state();
    return done(*state);
  });
  EXPECT_TRUE(is_done) << "gave up waiting; problem: " << state->problem;
  return state;
}

auto has_steps(std::size_t count) {
  return [count](const WatchState& state) {
    return state.view && state.view->figures.steps.size() >= count;
  };
}

trace::analysis::RunFigures read_whole(const std::filesystem::path& run) {
  auto reader = trace::store::RunReader::open(run);
  trace::analysis::RunAnalysis analysis(*(*reader)->info());
  const auto batches = (*reader)->poll();
  for (const auto& batch : *batches) analysis.add(batch);
  return analysis.figures();
}

SyntheticOptions live_options() {
  SyntheticOptions options;
  options.start_ns = trace::base::wall_clock_ns();
  return options;
}

const trace::timeline::RowPicture& row_of(const trace::timeline::StepPicture& step, int rank,
                                          std::string_view label) {
  const auto found =
      std::ranges::find_if(step.rows->rows, [&](const trace::timeline::TimelineRow& row) {
        return row.rank == rank && row.label == label;
      });
  EXPECT_NE(found, step.rows->rows.end()) << label;
  return step.picture->rows.at(static_cast<std::size_t>(found->id));
}

TEST(RunWatcher, ShowsStepsOfALiveRunAsTheyAreWritten) {
  const TemporaryFolder folder;
  SyntheticRun run(folder.path(), live_options());
  RunWatcher watcher([] {});
  watcher.show(run.folder());
  run.add_steps(3);
  run.beat(trace::base::wall_clock_ns());
  auto state = wait_for(watcher, has_steps(3));
  EXPECT_TRUE(state->view->is_live);
  EXPECT_TRUE(state->view->follows_live);
  EXPECT_EQ(state->view->figures.ranks.size(), 2u);
  run.add_steps(2);
  wait_for(watcher, has_steps(5));
  state = wait_for(watcher, [](const WatchState& now) { return now.view->selected_step == 4; });
  ASSERT_TRUE(state->view->timeline);
  EXPECT_EQ(row_of(*state->view->timeline, 1, "Communication").collectives.size(), 2u);
  run.finish();
  state = wait_for(watcher, [](const WatchState& now) {
    return now.view && now.view->figures.info.status == RunStatus::kDone;
  });
  EXPECT_FALSE(state->view->is_live);
}

TEST(RunWatcher, BuildsTheTimelineOfTheSelectedStep) {
  const TemporaryFolder folder;
  const auto run = finished_run(folder.path(), {}, 8);
  RunWatcher watcher([] {});
  watcher.show(run);
  auto state = wait_for(watcher, has_steps(8));
  ASSERT_TRUE(state->view->timeline);
  EXPECT_EQ(state->view->timeline->step, state->view->selected_step);
  EXPECT_GE(state->view->selected_step, 3) << "a finished run opens at a measured step";
  watcher.select_step(2);
  state = wait_for(watcher, [](const WatchState& now) { return now.view->selected_step == 2; });
  ASSERT_TRUE(state->view->timeline);
  EXPECT_EQ(state->view->timeline->step, 2);
  EXPECT_FALSE(state->view->follows_live);
  const trace::timeline::StepPicture& step = *state->view->timeline;
  ASSERT_EQ(step.rows->ranks.size(), 2u);
  EXPECT_EQ(row_of(step, 0, "Phases").pieces.size(), 4u);
  EXPECT_EQ(row_of(step, 0, "Communication").collectives.size(), 2u);
  EXPECT_FALSE(row_of(step, 1, "Compute").pieces.empty());
  watcher.select_step(-1);
  state = wait_for(watcher, [](const WatchState& now) { return now.view->selected_step == 7; });
  EXPECT_TRUE(state->view->follows_live);
}

// As an import with --overwrite does; "Open" of the ledger asks for the same place then.
TEST(RunWatcher, OpensTheRunThatTookThePlaceOfTheOneThatIsShown) {
  const TemporaryFolder folder, elsewhere;
  SyntheticRun run(folder.path()), other(elsewhere.path());
  run.add_steps(20);
  run.finish();
  other.add_steps(12);
  other.finish();
  RunWatcher watcher([] {});
  watcher.show(run.folder());
  watcher.set_label(run.folder(), {"#1", "as it is called"});
  wait_for(watcher, [](const WatchState& now) {
    return now.view && now.view->figures.steps.size() == 20 && now.view->ordinal == "#1";
  });
  EXPECT_EQ(watcher.state()->replacements, 0u);
  std::filesystem::remove_all(run.folder());
  std::filesystem::rename(other.folder(), run.folder());
  watcher.show(run.folder());
  const auto state = wait_for(watcher, [](const WatchState& now) {
    return now.view && now.view->figures.steps.size() == 12;
  });
  EXPECT_EQ(state->replacements, 1u);
  EXPECT_EQ(state->view->ordinal, "#1");
  EXPECT_EQ(state->problem, "");
}

// It is tried again and again, and said once.
TEST(RunWatcher, KeepsWhatIsShownWhereItsReplacementCannotBeOpened) {
  const TemporaryFolder folder;
  SyntheticRun run(folder.path(), live_options());
  run.add_steps(3);
  run.beat(trace::base::wall_clock_ns());
  run.finish(RunStatus::kRunning);
  RunWatcher watcher([] {});
  watcher.show(run.folder());
  wait_for(watcher, has_steps(3));
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(run.folder())) {
    files.push_back(entry.path());
  }
  std::filesystem::remove_all(run.folder());
  std::filesystem::create_directory(run.folder());
  for (const auto& file : files) trace::test::write_text(file, "no run");
  const auto state = wait_for(watcher, [](const WatchState& now) { return !now.problem.empty(); });
  EXPECT_EQ(state->failed_openings, 0u);
  std::this_thread::sleep_for(2500ms);
  EXPECT_EQ(watcher.state()->failed_openings, 0u);
  EXPECT_TRUE(has_steps(3)(*watcher.state()));
  EXPECT_EQ(watcher.state()->replacements, 0u);
}

TEST(RunWatcher, ReplayEndsWithTheFiguresOfAFullRead) {
  const TemporaryFolder folder;
  SyntheticRun run(folder.path());
  for (int i = 0; i < 6; ++i) {
    run.add_steps(2);
    std::this_thread::sleep_for(60ms);  // several commits, so that there is something to replay
  }
  run.finish();
  const auto whole = read_whole(run.folder());

  RunWatcher watcher([] {});
  watcher.start_replay(run.folder(), 1);
  watcher.set_replay_playing(false);
  auto state = wait_for(watcher, [](const WatchState& now) { return now.replay.active; });
  const auto replay = state->replay;
  watcher.seek_replay(replay.start_ns + (replay.end_ns - replay.start_ns) / 2);
  state = wait_for(watcher, [](const WatchState& now) {
    return now.view && !now.view->figures.steps.empty() && now.view->figures.steps.size() < 12;
  });
  EXPECT_EQ(state->view->figures.info.status, RunStatus::kRunning);
  watcher.set_replay_playing(true);
  state = wait_for(watcher, [](const WatchState& now) {
    return now.replay.active && !now.replay.playing && now.replay.now_ns == now.replay.end_ns;
  });
  EXPECT_EQ(state->view->figures.info.status, RunStatus::kDone);
  EXPECT_EQ(state->view->figures.steps, whole.steps);
  EXPECT_EQ(state->view->figures.summary.step_ns.mean, whole.summary.step_ns.mean);
  EXPECT_EQ(state->view->figures.summary.exposed_ns, whole.summary.exposed_ns);
}

// Those of this one take a second to start.
TEST(RunWatcher, AReplayBeginsWhereRanksBeginToDoSomething) {
  const TemporaryFolder folder;
  const auto run = folder.path() / "two_ranks.shardlens";
  std::filesystem::copy_file(
      std::filesystem::path(SHARDLENS_SOURCE_DIR) / "assets/runs" / run.filename(), run);
  const auto reader = trace::store::RunReader::open(run);
  ASSERT_TRUE(reader) << reader.error().message;
  const auto range = (*reader)->commit_range();
  ASSERT_TRUE(range);
  RunWatcher watcher([] {});
  watcher.start_replay(run, 1);
  watcher.set_replay_playing(false);
  const auto state = wait_for(watcher, [](const WatchState& now) { return now.replay.active; });
  EXPECT_EQ(state->replay.start_ns, range->idle_until_ns);
  EXPECT_GT(state->replay.start_ns, range->first_ns);
  EXPECT_EQ(state->replay.end_ns, range->last_ns);
}

TEST(RunWatcher, SeekingBackShowsFewerStepsAndForwardAllAgain) {
  const TemporaryFolder folder;
  SyntheticRun run(folder.path());
  for (int i = 0; i < 4; ++i) {
    run.add_steps(2);
    std::this_thread::sleep_for(60ms);
  }
  run.finish();
  RunWatcher watcher([] {});
  watcher.start_replay(run.folder(), 1);
  watcher.set_replay_playing(false);
  auto state = wait_for(watcher, [](const WatchState& now) { return now.replay.active; });
  const auto replay = state->replay;
  watcher.seek_replay(replay.end_ns);
  wait_for(watcher, has_steps(8));
  watcher.seek_replay(replay.start_ns + (replay.end_ns - replay.start_ns) / 2);
  state = wait_for(watcher, [](const WatchState& now) {
    return now.view && now.view->figures.steps.size() < 8;
  });
  EXPECT_GE(state->view->figures.steps.size(), 2u);
  watcher.stop_replay();
  state = wait_for(watcher, [](const WatchState& now) { return !now.replay.active; });
  state = wait_for(watcher, has_steps(8));
  EXPECT_EQ(state->view->figures.info.status, RunStatus::kDone);
}

TEST(RunWatcher, AStepThatIsChosenAsAReplayIsLeftStays) {
  const TemporaryFolder folder;
  const auto run = finished_run(folder.path(), {}, 8);
  RunWatcher watcher([] {});
  watcher.show(run);
  const auto usual = wait_for(watcher, has_steps(8))->view->selected_step;
  const std::int64_t chosen = usual == 7 ? 6 : 7;
  for (int i = 0; i < 20; ++i) {  // both may come to the worker at once, or not
    watcher.start_replay(run, 1);
    watcher.set_replay_playing(false);
    wait_for(watcher, [](const WatchState& now) { return now.replay.active; });
    watcher.stop_replay();
    watcher.select_step(chosen);
    wait_for(watcher, [&](const WatchState& now) {
      return !now.replay.active && now.view && now.view->selected_step == chosen;
    });
  }
}

TEST(RunWatcher, AFailedRunShowsWhatItsRanksSaidLast) {
  const TemporaryFolder folder;
  SyntheticRun run(folder.path());
  run.add_steps(2);
  run.log(0, "step 1 went well");
  run.log(0, "a peer is gone");
  std::ofstream(trace::store::rank_log(run.folder(), 0))
      << "step 1 went well\nerror: a peer is gone\n";
  std::ofstream(trace::store::rank_log(run.folder(), 1)) << "loading\nerror: out of memory\n";
  run.finish(RunStatus::kFailed, "rank 1 exited with code 1: out of memory");
  RunWatcher watcher([] {});
  watcher.show(run.folder());
  const auto state = wait_for(watcher, has_steps(2));
  const auto& log = state->view->log;
  ASSERT_EQ(log.size(), 4u) << "what a rank recorded is not said twice";
  EXPECT_EQ(log.front().text, "step 1 went well");
  EXPECT_EQ(log.back().text, "error: out of memory");
  EXPECT_EQ(log.back().rank, 1);
  EXPECT_EQ(log.back().level, trace::model::LogLine::Level::kError);
}

TEST(RunWatcher, ARunWhoseProgramWasKilledIsNotLive) {
  const TemporaryFolder folder;
  SyntheticRun run(folder.path());  // long ago, and its status still says running
  run.add_steps(4);
  run.beat(run.info().start_ns + 1'000'000'000);
  std::ofstream(trace::store::rank_log(run.folder(), 1)) << "error: out of memory\n";
  RunWatcher watcher([] {});
  watcher.show(run.folder());
  const auto state = wait_for(watcher, has_steps(4));
  EXPECT_FALSE(state->view->is_live);
  EXPECT_EQ(state->view->figures.info.status, RunStatus::kFailed);
  EXPECT_NE(state->view->figures.info.reason, "");
  ASSERT_FALSE(state->view->log.empty());
  EXPECT_EQ(state->view->log.back().text, "error: out of memory");
  EXPECT_EQ(state->view->log.back().time_ns, state->view->figures.steps.back().end_ns);
}

TEST(RunWatcher, SaysWhyARunCannotBeShown) {
  const TemporaryFolder folder;
  RunWatcher watcher([] {});
  watcher.show(folder.path() / "nothing");
  const auto state = wait_for(watcher, [](const WatchState& now) { return !now.problem.empty(); });
  EXPECT_EQ(state->view, nullptr);
  EXPECT_NE(state->problem.find("nothing"), std::string::npos);
}

struct ShownRun : testing::Test {
  TemporaryFolder folder;
  std::filesystem::path run = finished_run(folder.path(), {}, 3),
                        nothing = folder.path() / "nothing";
  RunWatcher watcher{[] {}};

  void SetUp() override {
    watcher.show(run);
    wait_for(watcher, has_steps(3));
  }
  std::shared_ptr<const WatchState> after_failures(std::uint64_t count) const {
    return wait_for(watcher, [&](const WatchState& now) { return now.failed_openings == count; });
  }
};

TEST_F(ShownRun, StaysWhereAnotherCannotBeOpened) {
  for (const std::uint64_t tried : {1u, 2u}) {
    watcher.show(nothing);
    const auto state = after_failures(tried);
    ASSERT_NE(state->view, nullptr);
    EXPECT_EQ(state->view->figures.steps.size(), 3u);
    EXPECT_EQ(state->run, run);
    EXPECT_EQ(watcher.asked_run(), run);
    EXPECT_NE(state->problem.find("nothing"), std::string::npos);
  }
}

TEST_F(ShownRun, IsReplayedOrNotAsBeforeWhereAnotherCannotBeOpened) {
  watcher.start_replay(nothing, 1);
  EXPECT_FALSE(after_failures(1)->replay.active) << "the other one was to be replayed";

  watcher.start_replay(run, 1);
  watcher.set_replay_playing(false);
  wait_for(watcher, [](const WatchState& now) { return now.replay.active; });
  watcher.show(nothing);
  EXPECT_TRUE(after_failures(2)->replay.active);
}

TEST(RunWatcher, ACpuRunCarriesItsBanner) {
  const TemporaryFolder folder;
  SyntheticOptions options;
  options.settings.inject = "rank=1,step=3,delay_ms=20";
  const auto run = finished_run(folder.path(), options, 1);
  RunWatcher watcher([] {});
  watcher.show(run);
  const auto state = wait_for(watcher, has_steps(1));
  ASSERT_EQ(state->view->banners.size(), 2u);
  EXPECT_EQ(state->view->banners[0], "CPU run: shows how it works, not how fast a GPU is");
}

}  // namespace
}  // namespace shardlens::app::session
