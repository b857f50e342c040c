#include "app/window/preferences.h"

#include <gtest/gtest.h>

#include <fstream>

#include "app/window/graphics.h"
#include "tests/app/session/synthetic_run.h"

namespace shardlens::app::window {
namespace {

Preferences unusual() {
  Preferences preferences;
  preferences.width = 1234;
  preferences.height = 777;
  preferences.maximized = true;
  preferences.replay_speed = 0.25;
  preferences.view.theme = ui::state::ThemeKind::kLight;
  preferences.view.scale = 1.125f;
  preferences.view.present_mode = true;
  preferences.view.folds.knobs = true;
  preferences.view.folds.dock = true;
  preferences.view.workspace = "inspect";
  preferences.view.inspect_tabs_share = 0.25f;
  preferences.view.inspect_tab = "Steps";
  return preferences;
}

TEST(Preferences, SurviveWritingAndReading) {
  EXPECT_EQ(parse_preferences(format_preferences(unusual())), unusual());
  EXPECT_EQ(parse_preferences(format_preferences({})), Preferences{});
}

TEST(Preferences, AreKeptInAFolderThatDidNotExist) {
  const session::TemporaryFolder folder;
  const auto file = folder.path() / "shardlens" / "preferences.yaml";
  ASSERT_TRUE(save_preferences(file, unusual()));
  EXPECT_EQ(load_preferences(file), unusual());
  ASSERT_TRUE(save_preferences(file, {}));
  EXPECT_EQ(load_preferences(file), Preferences{});
}

TEST(Preferences, AMissingFileGivesTheDefaults) {
  EXPECT_EQ(load_preferences("/nowhere/preferences.yaml"), Preferences{});
  EXPECT_EQ(load_preferences(""), Preferences{});
}

TEST(WindowSize, OfAFirstStartIsLargeEnoughForTheScaleThatTheDisplayHas) {
  const GraphicsOptions first{.at_display_scale = true}, later{};
  constexpr WindowSize kFine{3840, 2100};
  EXPECT_EQ(size_on_screen(first, 2, kFine), (WindowSize{3200, 2000}));
  EXPECT_EQ(size_on_screen(first, 3, kFine), kFine) << "there is no more room";
  EXPECT_EQ(size_on_screen(first, 1.5f, {}), (WindowSize{2400, 1500}));
  EXPECT_EQ(size_on_screen(later, 2, kFine), (WindowSize{1600, 1000})) << "as it was left";
}

TEST(Preferences, NonsenseLeavesTheDefaults) {
  const auto preferences = parse_preferences(
      "width: 7\nheight: many\nscale: 1e9\ntheme: pink\nmaximized: maybe\n:::\nnothing\n"
      "workspace:\nfold_dock: true\nreplay_speed: 101\ninspect_tabs_share: 7\n");
  Preferences expected;
  expected.view.folds.dock = true;
  EXPECT_EQ(preferences, expected);
}

TEST(Preferences, SayWhereTheyCouldNotBeSaved) {
  const session::TemporaryFolder folder;
  const auto blocker = folder.path() / "blocker";
  std::ofstream(blocker) << "a file where a folder is expected";
  const auto saved = save_preferences(blocker / "preferences.yaml", {});
  ASSERT_FALSE(saved);
  EXPECT_NE(saved.error().message.find("preferences.yaml"), std::string::npos);
  EXPECT_TRUE(save_preferences("", {})) << "nothing to remember is no error";
}

}  // namespace
}  // namespace shardlens::app::window
