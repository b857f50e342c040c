#include "app/session/lessons/kept_screen.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>

#include "tests/app/session/eventually.h"
#include "tests/app/session/synthetic_run.h"

namespace shardlens::app::session {
namespace {

namespace fs = std::filesystem;

struct KeptScreenTest : testing::Test {
  TemporaryFolder folder;
  fs::path own = write_run("own"), of_a_page = write_run("of a page");
  RunWatcher watcher{[] {}};
  KnobEditor knobs;
  ComparisonSession comparison{[] {}};
  KeptScreen screen{watcher, knobs, comparison};

  fs::path write_run(const char* name) {
    SyntheticOptions options;
    options.name = name;
    return finished_run(folder.path(), options, 12);
  }
  bool shows(const fs::path& run) {
    return eventually([&] {
      const auto state = watcher.state();
      return state->run == run && state->view && state->view->figures.steps.size() == 12;
    });
  }
  // A page is shown, and left, and another one is shown before what was left has come back.
  void look_at_two_pages() {
    screen.keep();
    watcher.show(of_a_page);
    ASSERT_TRUE(shows(of_a_page));
    screen.bring_back({}, folder.path());
    screen.keep();
    watcher.show(of_a_page);
    ASSERT_TRUE(shows(of_a_page));
    screen.bring_back({}, folder.path());
    ASSERT_TRUE(shows(own));
  }
};

TEST_F(KeptScreenTest, AStepComesBackHoweverSoonItIsLeftAgain) {
  watcher.show(own);
  ASSERT_TRUE(shows(own));
  const auto selects = [&](std::int64_t step) {
    return eventually([&] { return watcher.state()->view->selected_step == step; });
  };
  const std::int64_t step = watcher.state()->view->selected_step == 11 ? 10 : 11;
  watcher.select_step(step);
  ASSERT_TRUE(selects(step));
  look_at_two_pages();
  EXPECT_TRUE(selects(step));
}

TEST_F(KeptScreenTest, AReplayComesBackHoweverSoonItIsLeftAgain) {
  watcher.start_replay(own, 2);
  watcher.set_replay_playing(false);
  ASSERT_TRUE(eventually([&] { return watcher.state()->replay.active; }));
  const auto begin = watcher.state()->replay.start_ns, end = watcher.state()->replay.end_ns;
  watcher.seek_replay(end);
  ASSERT_TRUE(eventually([&] { return watcher.state()->replay.now_ns == end; }));
  ASSERT_LT(begin, end);
  watcher.select_step(3);
  const auto selects_the_step = [&] { return watcher.state()->view->selected_step == 3; };
  ASSERT_TRUE(eventually(selects_the_step));
  look_at_two_pages();
  EXPECT_TRUE(eventually([&] {
    const auto replay = watcher.state()->replay;
    return replay.active && !replay.playing && replay.speed == 2 && replay.now_ns == end &&
           selects_the_step();
  }));
}

TEST_F(KeptScreenTest, ARunThatWasAskedForIsAwaitedUntilItHasStarted) {
  EXPECT_FALSE(screen.bring_back({}, folder.path())) << "nothing is kept";
  screen.keep();
  screen.await_start();
  EXPECT_TRUE(screen.bring_back({}, folder.path()));
  screen.keep();
  screen.await_start();
  screen.follow_job({}, own);
  EXPECT_FALSE(screen.bring_back({}, folder.path()));
  EXPECT_TRUE(shows(own));
}

}  // namespace
}  // namespace shardlens::app::session
