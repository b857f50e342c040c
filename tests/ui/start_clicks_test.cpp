// Clicks and keys that start, stop and queue runs become commands.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>

#include "tests/ui/testing/click_test.h"
#include "tests/ui/testing/sample_snapshot.h"

namespace shardlens::ui {
namespace {

TEST_F(ClickTest, StopsTheRunFromTheTopBar) {
  ASSERT_TRUE(window_.click(snapshot_, "top/stop"));
  const auto* stopped = command<state::StopRun>();
  ASSERT_NE(stopped, nullptr);
  EXPECT_FALSE(stopped->at_once);
}

TEST_F(ClickTest, StopsAtOnceWithASecondPressButNotWithADoubleClick) {
  ASSERT_TRUE(window_.click(snapshot_, "top/stop"));
  ASSERT_NE(command<state::StopRun>(), nullptr);
  snapshot_.job.phase = state::JobPhase::kStopping;
  ASSERT_TRUE(window_.click(snapshot_, "top/stop"));
  EXPECT_EQ(command<state::StopRun>(), nullptr) << "the second click of a double click";
  window_.frames(snapshot_, 60);
  ASSERT_TRUE(window_.click(snapshot_, "top/stop"));
  const auto* stopped = command<state::StopRun>();
  ASSERT_NE(stopped, nullptr);
  EXPECT_TRUE(stopped->at_once);
}

TEST_F(ClickTest, SaysInThePaletteWhatASecondStopDoes) {
  snapshot_.job.phase = state::JobPhase::kStopping;
  window_.frame(snapshot_);
  window_.press(snapshot_, kit::Key::kK, true);
  window_.type(snapshot_, "stop the run");
  EXPECT_TRUE(window_.probe().shows("Stop the run now, without what is not saved"));
  window_.press(snapshot_, kit::Key::kEnter);
  const auto* stopped = command<state::StopRun>();
  ASSERT_NE(stopped, nullptr);
  EXPECT_TRUE(stopped->at_once);
}

TEST_F(ClickTest, GoesToTheJobBesideWhichAnotherRunIsLookedAt) {
  EXPECT_FALSE(window_.click(snapshot_, "top/job")) << "it is on screen";
  snapshot_.job.folder = "runs/cap 0.25";
  EXPECT_TRUE(window_.click(snapshot_, "top/job"));
  const auto* shown = command<state::ShowRun>();
  ASSERT_NE(shown, nullptr);
  EXPECT_EQ(shown->folder, "runs/cap 0.25");
}

TEST_F(ClickTest, QueuesOrStopsAndStarts) {
  ASSERT_TRUE(window_.click(snapshot_, "start/main"));
  const auto* queued = command<state::StartRun>();
  ASSERT_NE(queued, nullptr);
  EXPECT_FALSE(queued->stop_current);
  ASSERT_TRUE(window_.click(snapshot_, "start/stop_and_start"));
  const auto* stopped = command<state::StartRun>();
  ASSERT_NE(stopped, nullptr);
  EXPECT_TRUE(stopped->stop_current);
}

TEST_F(ClickTest, DoesNotStartSettingsThatHaveAProblem) {
  snapshot_ = empty_snapshot();
  snapshot_.knobs.problems.push_back({"ranks", "More ranks than GPUs"});
  ASSERT_TRUE(window_.click(snapshot_, "start/main"));
  EXPECT_EQ(command<state::StartRun>(), nullptr);
  EXPECT_TRUE(window_.probe().shows("More ranks than GPUs"));
}

TEST_F(ClickTest, StartsWithControlEnter) {
  window_.frame(snapshot_);
  window_.press(snapshot_, kit::Key::kEnter, true);
  EXPECT_NE(command<state::StartRun>(), nullptr);
}

// Where the settings are not on screen: the answer says what is wrong with them.
TEST_F(ClickTest, AsksForARunFromAnywhereAlsoWhereSettingsHaveAProblem) {
  snapshot_.job = {};
  snapshot_.knobs.problems.push_back({"ranks", "More ranks than GPUs"});
  window_.frame(snapshot_);
  window_.press(snapshot_, kit::Key::kTwo, true);
  ASSERT_TRUE(window_.view().inspects());
  window_.press(snapshot_, kit::Key::kEnter, true);
  EXPECT_NE(command<state::StartRun>(), nullptr);
  ASSERT_TRUE(window_.click(snapshot_, "top/start"));
  EXPECT_NE(command<state::StartRun>(), nullptr);
  EXPECT_TRUE(window_.probe().shows("More ranks than GPUs")) << "under the mouse";
  window_.press(snapshot_, kit::Key::kK, true);
  window_.type(snapshot_, "start the run");
  window_.press(snapshot_, kit::Key::kEnter);
  EXPECT_NE(command<state::StartRun>(), nullptr);
}

TEST_F(ClickTest, StartsNothingFromUnderTheMenuOfARunOrThePlan) {
  ASSERT_TRUE(window_.click(snapshot_, "ledger/runs/baseline", 1));
  ASSERT_TRUE(window_.click(snapshot_, "menu/note"));
  window_.type(snapshot_, "as last week");
  window_.press(snapshot_, kit::Key::kEnter, true);
  EXPECT_EQ(command<state::StartRun>(), nullptr);
  window_.press(snapshot_, kit::Key::kEscape);
  window_.press(snapshot_, kit::Key::kEscape);
  snapshot_ = plan_snapshot();
  window_.frames(snapshot_, 3);
  window_.press(snapshot_, kit::Key::kEnter, true);
  EXPECT_EQ(command<state::StartRun>(), nullptr);
}

// Positions of a setting's change and of the start among the commands; -1: not sent.
std::pair<int, int> set_and_start(const state::Commands& commands) {
  std::pair<int, int> at{-1, -1};
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (std::holds_alternative<state::SetKnob>(commands[i])) at.first = static_cast<int>(i);
    if (std::holds_alternative<state::StartRun>(commands[i])) at.second = static_cast<int>(i);
  }
  return at;
}

TEST_F(ClickTest, StartsWithTheValueThatIsStillBeingEdited) {
  ASSERT_TRUE(window_.click(snapshot_, "knob/bucket_cap_mb"));
  window_.type(snapshot_, "77");
  window_.press(snapshot_, kit::Key::kEnter, true);
  const auto [set, start] = set_and_start(window_.take_commands());
  EXPECT_GE(set, 0);
  EXPECT_GT(start, set);
}

TEST_F(ClickTest, StartsWithTheValueTypedIntoThePalette) {
  window_.frame(snapshot_);
  window_.press(snapshot_, kit::Key::kK, true);
  window_.type(snapshot_, "bucket_cap_mb 60");
  window_.press(snapshot_, kit::Key::kEnter, true);
  const auto [set, start] = set_and_start(window_.take_commands());
  EXPECT_GE(set, 0);
  EXPECT_GT(start, set);
}

TEST_F(ClickTest, StartsOnceFromThePalettesOwnEntry) {
  window_.frame(snapshot_);
  window_.press(snapshot_, kit::Key::kK, true);
  window_.press(snapshot_, kit::Key::kEnter, true);
  const state::Commands commands = window_.take_commands();
  EXPECT_EQ(std::count_if(
                commands.begin(), commands.end(),
                [](const state::Command& c) { return std::holds_alternative<state::StartRun>(c); }),
            1);
}

TEST_F(ClickTest, CountsAQueueThatCannotBeSeenWholeAndCancelsIt) {
  for (std::uint64_t id = 1; id <= 4; ++id) snapshot_.job.queued.push_back({id, "cap 60"});
  window_.frame(snapshot_);
  EXPECT_EQ(window_.probe().find("queue/cancel all"), nullptr) << "four are seen";
  for (std::uint64_t id = 5; id <= 12; ++id) snapshot_.job.queued.push_back({id, "cap 90"});
  window_.frame(snapshot_);
  EXPECT_TRUE(window_.probe().shows("12 runs are queued"));
  ASSERT_TRUE(window_.click(snapshot_, "queue/cancel all"));
  const auto* canceled = command<state::CancelQueued>();
  ASSERT_NE(canceled, nullptr);
  EXPECT_EQ(canceled->id, state::CancelQueued{}.id) << "all";
}

TEST_F(ClickTest, TakesRunsFromTheQueueAndMovesThem) {
  snapshot_.job.queued = {{7, "cap 60"}, {8, "cap 90"}};
  ASSERT_TRUE(window_.click(snapshot_, "queue/8/earlier"));
  const auto* moved = command<state::MoveQueued>();
  ASSERT_NE(moved, nullptr);
  EXPECT_EQ(moved->id, 8u);
  EXPECT_EQ(moved->places, -1);
  ASSERT_TRUE(window_.click(snapshot_, "queue/7/remove"));
  const auto* removed = command<state::CancelQueued>();
  ASSERT_NE(removed, nullptr);
  EXPECT_EQ(removed->id, 7u);
  EXPECT_TRUE(window_.probe().shows("Then: cap 90"));
  ASSERT_TRUE(window_.click(snapshot_, "start/main")) << "more can be queued";
  EXPECT_NE(command<state::StartRun>(), nullptr);
}

TEST_F(ClickTest, TriesTheSetUpAgain) {
  snapshot_ = installing_snapshot();
  snapshot_.trainer = {state::TrainerSetup::State::kFailed,
                       "No space left: free 5 GB and try again", -1};
  ASSERT_TRUE(window_.click(snapshot_, "start/retry"));
  EXPECT_NE(command<state::RetryTrainerSetup>(), nullptr);
}

}  // namespace
}  // namespace shardlens::ui
