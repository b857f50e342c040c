// The Inspect workspace without a display: it draws at every size, and texts keep apart.
#include "tests/ui/inspect/testing/inspect_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "tests/ui/inspect/testing/headless_panel.h"
#include "tests/ui/inspect/testing/sample_tables.h"

namespace shardlens::ui::inspect {

namespace {

enum class ShownView { kWholeRun, kThreeSteps, kNanoseconds, kSteps };

void show(InspectWindow& inspect, ShownView view) {
  TimelineState& state = inspect.state();
  const SampleRun& run = inspect.run();
  if (view == ShownView::kThreeSteps) {
    state.window.show(run.step_start(0, 20), run.step_end(0, 22));
    state.selection = trace::base::Interval{run.step_start(0, 21), run.step_end(0, 21)};
    state.measured = trace::base::Interval{run.step_start(0, 20), run.step_end(0, 21)};
  }
  if (view == ShownView::kNanoseconds) {
    const std::int64_t at = run.step_start(0, 20) + 250'000'000;
    state.window.show(at, at + 500);
  }
  if (view == ShownView::kSteps) state.mode = TimelineState::Mode::kSteps;
  inspect.change().range = sample_range({});
  inspect.settle();
}

using WindowCase = std::tuple<std::pair<int, int>, float, ShownView>;
class InspectWindowTest : public ::testing::TestWithParam<WindowCase> {};

// In one theme: it gives nothing but colours. What a recording names may be longer than any bar or
// column: events, streams, kernels.
TEST_P(InspectWindowTest, KeepsTextsApartInsideAndCutsNothingOfItsOwn) {
  const auto& [size, scale, view] = GetParam();
  state::ViewPreferences preferences;
  preferences.scale = scale;
  InspectWindow inspect(size.first, size.second, preferences, {.steps = 60});
  show(inspect, view);
  EXPECT_EQ(overlapping_texts_of(inspect.probe()), std::vector<std::string>{});
  EXPECT_GT(inspect.probe().texts.size(), 15u);
  const kit::DrawProbe::Target* plot = inspect.probe().find("inspect/plot");
  const kit::DrawProbe::Target* toolbar = inspect.probe().find("inspect/search");
  ASSERT_NE(plot, nullptr);
  ASSERT_NE(toolbar, nullptr);
  for (const auto& text : inspect.probe().texts) {
    EXPECT_LE(text.rect.right(), static_cast<float>(size.first) + 1) << text.text;
    EXPECT_GE(text.rect.x, -1) << text.text;
    const bool above = text.rect.y < plot->rect.y && text.rect.right() < plot->rect.right();
    if (above && text.rect.y > toolbar->rect.y) {
      EXPECT_FALSE(text.text.ends_with("…")) << text.text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, InspectWindowTest,
    ::testing::Combine(::testing::Values(std::pair{1280, 720}, std::pair{1600, 1000},
                                         std::pair{1920, 1200}, std::pair{3840, 2160}),
                       ::testing::Values(0.75f, 1.0f, 1.5f, 3.0f),
                       ::testing::Values(ShownView::kWholeRun, ShownView::kThreeSteps,
                                         ShownView::kNanoseconds, ShownView::kSteps)));

TEST(InspectWorkspace, SaysWhyWhatItWaitsForDoesNotCome) {
  InspectWindow inspect(1600, 1000, {}, {.steps = 20});
  inspect.change().range = nullptr;
  inspect.settle();
  EXPECT_TRUE(inspect.probe().shows("Counting the events of the whole run…"));
  inspect.change().problem = "rank_1.sqlite is damaged";
  inspect.settle();
  EXPECT_FALSE(inspect.probe().shows("Counting the events of the whole run…"));
  const auto said = std::ranges::count(inspect.probe().texts, "rank_1.sqlite is damaged",
                                       &kit::DrawProbe::Text::text);
  EXPECT_EQ(said, 2) << "above the workspace and in place of the table";
}

TEST(InspectWorkspace, IsChosenInTheTopBarAndByKeys) {
  InspectWindow inspect(1600, 1000, {}, {.steps = 20});
  HeadlessWindow& window = inspect.window();
  EXPECT_TRUE(inspect.probe().shows("Whole run"));
  ASSERT_TRUE(window.click(inspect.snapshot(), "top/tune"));
  EXPECT_EQ(window.view().preferences().workspace, state::kTuneWorkspace);
  EXPECT_FALSE(inspect.probe().shows("Whole run"));
  EXPECT_TRUE(inspect.probe().shows("Settings for the next run"));
  window.press(inspect.snapshot(), kit::Key::kTwo, true);
  EXPECT_EQ(window.view().preferences().workspace, state::kInspectWorkspace);
  EXPECT_TRUE(inspect.probe().shows("Whole run"));
  window.press(inspect.snapshot(), kit::Key::kOne, true);
  EXPECT_EQ(window.view().preferences().workspace, state::kTuneWorkspace);
}

TEST(InspectWorkspace, SaysWhyThereIsNothing) {
  InspectWindow inspect(1280, 800, {}, {.steps = 5});
  inspect.change().rows = nullptr;
  inspect.settle();
  EXPECT_TRUE(inspect.probe().shows("Opening the run…"));
  inspect.change().problem = "rank_0.sqlite is damaged: verify it";
  inspect.settle();
  EXPECT_TRUE(inspect.probe().shows("rank_0.sqlite is damaged: verify it"));
  inspect.snapshot().inspect = nullptr;
  inspect.frame();
  EXPECT_TRUE(inspect.probe().shows("Opening the run…"));
  inspect.snapshot().run = nullptr;
  inspect.frame();
  EXPECT_TRUE(inspect.probe().shows("Choose a run of the ledger"));
}

TEST(InspectWorkspace, SleepsOnceNothingChanges) {
  InspectWindow inspect(1280, 800, {}, {.steps = 5});
  for (int i = 0; i < 12; ++i) inspect.frame();
  EXPECT_FALSE(inspect.window().view().wants_redraw());
  EXPECT_TRUE(inspect.take_commands().empty());
}

TEST(InspectWorkspace, KeepsTheSplitterWhereItWasDragged) {
  InspectWindow inspect(1600, 1000, {}, {.steps = 5});
  const float before = inspect.window().view().preferences().inspect_tabs_share;
  inspect.frame();
  const state::Rect splitter = inspect.probe().find("inspect/splitter")->rect;
  inspect.window().move_to(inspect.snapshot(), splitter.center_x(), splitter.center_y());
  ImGui::GetIO().MouseDown[0] = true;
  inspect.frame();
  inspect.window().move_to(inspect.snapshot(), splitter.center_x(), splitter.center_y() - 120);
  ImGui::GetIO().MouseDown[0] = false;
  inspect.settle();
  EXPECT_GT(inspect.window().view().preferences().inspect_tabs_share, before + 0.05f);
  EXPECT_NEAR(inspect.probe().find("inspect/splitter")->rect.center_y(), splitter.center_y() - 120,
              2);
}

// Also where Learn is left and entered again before what was on screen has come back.
TEST(InspectWorkspace, IsAfterALessonAsItWasBefore) {
  state::ViewPreferences preferences;
  preferences.inspect_tab = "Steps";
  InspectWindow inspect(1600, 1000, preferences, {.steps = 20});
  HeadlessWindow& window = inspect.window();
  inspect.state().window.show(inspect.run().step_start(0, 3), inspect.run().step_end(0, 4));
  inspect.settle();
  const auto address = [&] { return window.view().inspect().address(*inspect.snapshot().inspect); };
  const state::ViewAddress before = address();
  ASSERT_TRUE(before.shown);
  for (const kit::Key left_by : {kit::Key::kOne, kit::Key::kTwo}) {
    window.press(inspect.snapshot(), kit::Key::kFour, true);
    state::ViewAddress page = before;
    page.tab = "Collectives";
    page.shown = state::AddressRange{0, 1'000'000'000};
    inspect.snapshot().gone_to = std::make_shared<const state::ViewAddress>(page);
    ++inspect.snapshot().version;
    inspect.settle();
    EXPECT_EQ(address().tab, page.tab);
    ASSERT_TRUE(address().shown);
    EXPECT_NEAR(static_cast<double>(address().shown->to_ns), 1e9, 4);
    EXPECT_EQ(window.view().preferences().inspect_tab, "Steps") << "to be remembered";
    window.press(inspect.snapshot(), left_by, true);
  }
  inspect.settle();
  EXPECT_EQ(address().tab, before.tab);
  EXPECT_EQ(window.view().preferences().inspect_tab, "Steps");
  ASSERT_TRUE(address().shown);
  EXPECT_NEAR(static_cast<double>(address().shown->from_ns - before.shown->from_ns), 0, 4);
  EXPECT_NEAR(static_cast<double>(address().shown->to_ns - before.shown->to_ns), 0, 4);
}

TEST(InspectWorkspace, SurvivesTinyAndChangingWindows) {
  InspectWindow inspect(1280, 720, {}, {.ranks = 3, .steps = 10});
  for (const auto& [width, height] : {std::pair{200, 120}, {1, 1}, {3840, 2160}, {400, 2000}}) {
    inspect.window().resize(width, height);
    inspect.settle();
  }
  EXPECT_GT(inspect.probe().texts.size(), 10u);
}

TEST(InspectWorkspace, SurvivesRowsThatContradictThemselves) {
  InspectWindow inspect(1280, 800, {}, {.ranks = 2, .steps = 6});
  auto rows = std::make_shared<trace::timeline::TimelineRows>(inspect.run().rows());
  rows->steps[3].end_ns = rows->steps[3].start_ns - 500;  // reversed
  rows->steps[4].start_ns = 0;
  rows->ranks[1].rows.push_back(4'000);
  rows->reversed_events = 12;
  rows->overlapping_events = 3;
  inspect.change().rows = rows;
  inspect.settle();
  auto picture =
      std::make_shared<trace::timeline::TimelinePicture>(*inspect.snapshot().inspect->picture);
  for (auto& row : picture->rows) {
    for (std::size_t i = 0; i < row.pieces.size(); i += 3) {
      std::swap(row.pieces[i].start_ns, row.pieces[i].end_ns);
      row.pieces[i].name = 1'000'000;
      row.pieces[i].level = 255;
    }
  }
  inspect.change().picture = picture;
  inspect.frame();
  inspect.frame();
  EXPECT_TRUE(inspect.probe().shows("Rank 0"));
}

}  // namespace

}  // namespace shardlens::ui::inspect
