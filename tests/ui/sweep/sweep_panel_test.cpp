// The panel and the card as a user meets them: what they say, what clicks ask for.
#include "ui/sweep/sweep_panel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "tests/ui/inspect/testing/headless_panel.h"
#include "tests/ui/testing/headless_window.h"
#include "tests/ui/testing/own_copy.h"
#include "tests/ui/testing/sample_snapshot.h"
#include "tests/ui/testing/sample_sweep.h"

namespace shardlens::ui::sweep {
namespace {

using inspect::HeadlessPanel;

struct SweepPanelTest : testing::Test {
  SweepPanel panel;
  state::Snapshot snapshot = sample_snapshot();
  state::ThemeKind theme = state::ThemeKind::kDark;

  HeadlessPanel window(int width = 1280, int height = 720, float scale = 1) {
    return {width, height, scale, theme,
            [this](const kit::Theme& look, const state::Rect& rect, state::Commands& commands) {
              panel.draw(look, rect, snapshot, commands);
            }};
  }
  void show(const state::ShownSweep& sweep) { snapshot.sweep = sweep_view(sweep); }
};

TEST_F(SweepPanelTest, AsksOnceForTheLibrarysSweeps) {
  auto window = this->window();
  window.frames(3);
  const auto commands = window.take_commands();
  ASSERT_EQ(commands.size(), 1u);
  ASSERT_NE(HeadlessPanel::find<state::ShowSweep>(commands), nullptr);
  EXPECT_TRUE(window.probe().shows("Reading the library's sweeps…"));
  auto view = std::make_shared<state::SweepView>();
  snapshot.sweep = view;
  window.frames(2);
  EXPECT_TRUE(window.probe().shows("No sweep yet"));
}

TEST_F(SweepPanelTest, NamesALongSettingInFullOverItsColumn) {
  auto sweep = sample_grid_sweep();
  sweep.varied[1] = trace::job::find_knob("gradient_as_bucket_view");
  show(sweep);
  auto window = this->window(1900, 1000);
  window.frames(3);
  const auto named = std::ranges::count(window.probe().texts, "gradient_as_bucket_view",
                                        &kit::DrawProbe::Text::text);
  EXPECT_EQ(named, 2) << "beside the heat map and over the table";
}

TEST_F(SweepPanelTest, CutsNoIntervalThatIsLongerThanItsMean) {
  auto sweep = sample_sweep();
  sweep.points[0].step_ns = 596.9e6;
  sweep.points[0].half_width_ns = 840.2e6;
  show(sweep);
  for (const int width : {1280, 1600}) {
    auto window = this->window(width, 900);
    window.frames(3);
    EXPECT_TRUE(window.probe().shows("(0 to 1,437 ms)")) << width;
  }
}

TEST_F(SweepPanelTest, AppliesTheWinnerWithOneClick) {
  show(sample_sweep());
  snapshot.knobs.next = {};
  auto window = this->window();
  window.frames(3);
  EXPECT_TRUE(window.probe().shows("Apply bucket_cap_mb=1"));
  ASSERT_TRUE(window.click("sweep/apply"));
  const auto commands = window.take_commands();
  const auto* set = HeadlessPanel::find<state::SetKnob>(commands);
  ASSERT_NE(set, nullptr);
  EXPECT_EQ(set->name, "bucket_cap_mb");
  EXPECT_EQ(set->text, "1");
  snapshot.knobs.next.bucket_cap_mb = 1;
  window.frames(2);
  EXPECT_TRUE(window.probe().shows("Settings of the best mean stand in Tune"));
  EXPECT_EQ(window.probe().find("sweep/apply"), nullptr) << "there is nothing left to set";
}

// Under other ranks it need not win.
TEST_F(SweepPanelTest, AppliesAllThatTheWinnerWasRunWith) {
  show(sample_sweep());
  snapshot.knobs.next = {};
  snapshot.knobs.next.bucket_cap_mb = 1;
  snapshot.knobs.next.ranks = 4;
  snapshot.knobs.next.overlap_comm = false;
  auto window = this->window();
  ASSERT_TRUE(window.click("sweep/apply"));
  trace::job::Settings applied = snapshot.knobs.next;
  for (const auto& command : window.take_commands()) {
    const auto& set = std::get<state::SetKnob>(command);
    EXPECT_TRUE(trace::job::set_value(applied, set.name, set.text));
  }
  EXPECT_EQ(applied, sample_sweep().points[2].settings);
}

// As many points as the grid, of which no two share a value of the first knob.
state::ShownSweep sample_list_sweep() {
  auto sweep = sample_grid_sweep();
  sweep.name = "list";
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    sweep.points[i].values = {"list " + std::to_string(i),
                              i % 2 == 0 ? "false" : std::to_string(i)};
  }
  return sweep;
}

TEST_F(SweepPanelTest, SaysWhatIsDashedOnlyWhereSomethingIs) {
  auto sweep = sample_grid_sweep();
  show(sweep);
  const auto says_dashed = [&] {
    auto window = this->window();
    window.frames(3);
    return window.probe().shows(
        "Dashed: predicted from the run “caps, cap 0.25, run 1” alone, "
        "before a point's own runs");
  };
  EXPECT_TRUE(says_dashed());
  sweep.points[5] = sweep.points[4];
  sweep.points[5].values = sample_grid_sweep().points[5].values;
  show(sweep);
  EXPECT_FALSE(says_dashed()) << "all cells are measured or failed";
}

TEST_F(SweepPanelTest, NamesTheEndsOfTheScaleByTheGoal) {
  auto sweep = sample_grid_sweep();
  show(sweep);
  auto window = this->window();
  window.frames(3);
  const auto says = [&](std::string_view word) {
    return std::ranges::find(window.probe().texts, word, &kit::DrawProbe::Text::text) !=
           window.probe().texts.end();
  };
  EXPECT_TRUE(says("fastest"));
  EXPECT_TRUE(says("slowest"));
  sweep.search.emplace().goal = "memory";
  show(sweep);
  window.frames(3);
  EXPECT_FALSE(says("fastest"));
  EXPECT_FALSE(says("slowest"));
  EXPECT_TRUE(says("least memory"));
  EXPECT_TRUE(says("most memory"));
}

TEST_F(SweepPanelTest, LeavesOutWhatIsSaidOfTheRunOnScreen) {
  auto sweep = sample_grid_sweep();
  sweep.banners = {"Ranks on a CPU", "Simulated links"};
  show(sweep);
  auto& run = own_copy(snapshot.run);
  run.banners = {"Ranks on a CPU"};
  auto window = this->window();
  window.frames(3);
  EXPECT_FALSE(window.probe().shows("Ranks on a CPU"));
  EXPECT_TRUE(window.probe().shows("Simulated links"));
}

TEST_F(SweepPanelTest, AppliesAllKnobsOfAGrid) {
  show(sample_grid_sweep());
  snapshot.knobs.next = {};
  auto window = this->window();
  ASSERT_TRUE(window.click("sweep/apply"));
  const auto commands = window.take_commands();
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(std::get<state::SetKnob>(commands[1]).name, "overlap_comm");
  EXPECT_EQ(std::get<state::SetKnob>(commands[1]).text, "false");
}

TEST_F(SweepPanelTest, SaysTheVerdictFirstAndWhyPointsWereStopped) {
  show(sample_sweep());
  auto window = this->window();
  window.frames(3);
  EXPECT_TRUE(window.probe().shows("Done: 12 runs"));
  EXPECT_TRUE(window.probe().shows(
      "bucket_cap_mb=25 was stopped after 2 runs: 37 % slower than bucket_cap_mb=1"));
  EXPECT_TRUE(window.probe().shows("predicted from one run"));
}

TEST_F(SweepPanelTest, CellsOfAHeatMapAreLabelledAndCanBeChosen) {
  show(sample_grid_sweep());
  auto window = this->window();
  window.frames(3);
  for (const char* text : {"240.0 ms", "failed", "257.0 ms", "± 3.60 ms", "fastest", "slowest"}) {
    EXPECT_TRUE(window.probe().shows(text)) << text;
  }
  ASSERT_TRUE(window.hover("sweep/cell/2"));
  EXPECT_TRUE(window.probe().shows("out of memory")) << "why it failed";
  EXPECT_TRUE(window.click("sweep/cell/1"));
}

TEST_F(SweepPanelTest, RowsOfARankingAreNamedExplainedAndCanBeChosen) {
  show(sample_list_sweep());
  auto window = this->window();
  window.frames(3);
  EXPECT_TRUE(window.probe().shows("list 0 · false"));
  EXPECT_TRUE(window.probe().shows("predicted from one run"));
  ASSERT_TRUE(window.hover("sweep/ranking0"));
  EXPECT_TRUE(window.probe().shows("Beside the best"));
  EXPECT_TRUE(window.click("sweep/ranking1"));
}

TEST_F(SweepPanelTest, SaysWhatARightClickOffers) {
  show(sample_sweep());
  snapshot.knobs.next = {};
  auto window = this->window();
  window.frames(3);
  EXPECT_TRUE(window.probe().shows("right-click for more"));
  ASSERT_TRUE(window.click("sweep points/row/1", 1));
  window.frames(3);
  ASSERT_TRUE(window.click("sweep/menu/menu/Set its settings in Tune"));
  const auto commands = window.take_commands();
  EXPECT_NE(HeadlessPanel::find<state::SetKnob>(commands), nullptr);
}

TEST_F(SweepPanelTest, OffersWhatFitsTheMoment) {
  auto sweep = sample_sweep();
  sweep.phase = state::SweepPhase::kUnfinished;
  sweep.runs_left = 3;
  show(sweep);
  auto window = this->window();
  ASSERT_TRUE(window.click("sweep/resume"));
  auto commands = window.take_commands();
  ASSERT_NE(HeadlessPanel::find<state::ResumeSweep>(commands), nullptr);
  EXPECT_EQ(HeadlessPanel::find<state::ResumeSweep>(commands)->name, "caps");
  EXPECT_EQ(window.probe().find("sweep/stop"), nullptr);

  sweep.phase = state::SweepPhase::kRunning;
  sweep.running_point = 1;
  show(sweep);
  ASSERT_TRUE(window.click("sweep/stop"));
  commands = window.take_commands();
  EXPECT_NE(HeadlessPanel::find<state::StopSweep>(commands), nullptr);
  EXPECT_EQ(window.probe().find("sweep/resume"), nullptr);

  sweep.phase = state::SweepPhase::kElsewhere;
  show(sweep);
  window.frames(2);
  EXPECT_EQ(window.probe().find("sweep/resume"), nullptr) << "another program runs it";
  ASSERT_TRUE(window.click("sweep/new"));
  commands = window.take_commands();
  EXPECT_NE(HeadlessPanel::find<state::OpenSweepCard>(commands), nullptr);
}

TEST_F(SweepPanelTest, NamesTheBestInFullAlsoAtTheEndsOfTheCurve) {
  auto sweep = sample_sweep();
  for (const std::size_t best : {std::size_t{0}, sweep.points.size() - 1}) {
    sweep.points[*sweep.best].standing = state::SweepStanding::kSlower;
    sweep.points[best].standing = state::SweepStanding::kBest;
    sweep.best = best;
    show(sweep);
    auto window = this->window();
    window.frames(3);
    const auto word =
        std::ranges::find(window.probe().texts, "best mean", &kit::DrawProbe::Text::text);
    ASSERT_NE(word, window.probe().texts.end());
    EXPECT_GE(word->rect.x, word->clip.x - 0.5f) << best;
    EXPECT_LE(word->rect.right(), word->clip.right() + 0.5f) << best;
  }
}

TEST_F(SweepPanelTest, NoFrontIsDrawnThroughAName) {
  auto sweep = sample_sweep();
  sweep.varied = {trace::job::find_knob("communication_hook")};
  sweep.points.resize(3);
  const std::array kValues{std::tuple{"none", 24.0, 150e6}, std::tuple{"fp16_compress", 50.0, 67e6},
                           std::tuple{"bf16_compress", 50.0, 76e6}};
  for (std::size_t i = 0; i < kValues.size(); ++i) {
    const auto& [value, mib, step_ns] = kValues[i];
    sweep.points[i].values = {value};
    sweep.points[i].peak_tensor_bytes = mib * 1024 * 1024;
    sweep.points[i].step_ns = step_ns;
  }
  sweep.best = 1;
  show(sweep);
  auto window = this->window();
  window.frames(3);
  state::Rect name;  // beside its point at the right end, where the front comes down
  for (const auto& text : window.probe().texts) {
    if (text.text == "bf16_compress" && text.rect.x > name.x) name = text.rect;
  }
  ASSERT_GT(name.x, 640);
  const auto pixels = window.pixels();
  int blue = 0;
  for (int y = static_cast<int>(name.y); y < static_cast<int>(name.bottom()); ++y) {
    for (int x = static_cast<int>(name.x); x < static_cast<int>(name.right()); ++x) {
      const std::size_t at = 4 * static_cast<std::size_t>(1280 * y + x);
      blue += pixels[at + 2] > pixels[at] + 60 ? 1 : 0;
    }
  }
  EXPECT_EQ(blue, 0);
}

TEST_F(SweepPanelTest, LeavesTheTableOutWhereNotARowOfItHasRoom) {
  show(sample_grid_sweep());
  auto low = window(1264, 470, 1.5f);
  low.frames(3);
  EXPECT_FALSE(low.probe().shows("Points"));
  EXPECT_TRUE(low.probe().shows("Step time against memory"));
}

TEST_F(SweepPanelTest, NothingOverlapsAtAnySize) {
  for (const auto& sweep : {sample_sweep(), sample_grid_sweep(), sample_list_sweep()}) {
    show(sweep);
    for (const auto& [width, height, scale] :
         {std::tuple{1264, 640, 1.0f}, {1600, 900, 1.0f}, {1900, 1100, 1.0f}, {1264, 640, 1.5f}}) {
      auto window = this->window(width, height, scale);
      window.frames(3);
      EXPECT_THAT(overlapping_texts_of(window.probe()), testing::IsEmpty())
          << sweep.name << " " << width << "x" << height << " at " << scale;
    }
  }
}

// ---- the card -----------------------------------------------------------------------------------

struct SweepCardTest : testing::Test {
  HeadlessWindow window{1280, 800};
  state::Snapshot snapshot = sample_snapshot({.live = false});
  state::Commands commands;

  void open(const state::SweepCard& card) {
    snapshot.sweep = sweep_card_view(card);
    ++snapshot.version;
  }
  template <typename T>
  const T* asked() {
    commands = window.take_commands();
    return HeadlessWindow::find<T>(commands);
  }
};

TEST_F(SweepCardTest, OpensBesideStartAndFromAKnob) {
  ASSERT_TRUE(window.click(snapshot, "start/sweep"));
  const auto* opened = asked<state::OpenSweepCard>();
  ASSERT_NE(opened, nullptr);
  EXPECT_EQ(opened->knob, "");
  window.resize(1600, 1400);  // the knob is in view
  window.frame(snapshot);
  const auto* knob = window.probe().find("knob/bucket_cap_mb");
  ASSERT_NE(knob, nullptr);
  window.move_to(snapshot, knob->rect.x - 60, knob->rect.center_y());
  ASSERT_TRUE(window.click(snapshot, "sweep/bucket_cap_mb"));
  ASSERT_NE(opened = asked<state::OpenSweepCard>(), nullptr);
  EXPECT_EQ(opened->knob, "bucket_cap_mb");
}

TEST_F(SweepCardTest, SaysWhatItWillCostAndStarts) {
  open(sample_card());
  window.frames(snapshot, 3);
  EXPECT_TRUE(
      window.probe().shows("3 points, 2 times each: 6 runs, about 84 s, by what run 4 took"));
  ASSERT_TRUE(window.click(snapshot, "sweep/start"));
  EXPECT_NE(asked<state::StartSweep>(), nullptr);
  snapshot.sweep = sweep_view(sample_sweep());  // it runs, and is looked at where it is shown
  window.frames(snapshot, 3);
  EXPECT_TRUE(window.view().compares());
  EXPECT_TRUE(window.probe().shows("Apply bucket_cap_mb=1"));
  ASSERT_TRUE(window.click(snapshot, "sweep/apply"));
  EXPECT_NE(asked<state::SetKnob>(), nullptr);
}

TEST_F(SweepCardTest, RefusalsStandAtTheirPointsAndNothingStarts) {
  auto card = sample_card();
  card.refused = {{"bucket_cap_mb=4", "reshard_after_forward contradicts it"}};
  open(card);
  window.frames(snapshot, 3);
  EXPECT_TRUE(window.probe().shows("bucket_cap_mb=4: reshard_after_forward contradicts it"));
  ASSERT_TRUE(window.click(snapshot, "sweep/start"));
  EXPECT_EQ(asked<state::StartSweep>(), nullptr);
}

TEST_F(SweepCardTest, SaysThatNothingStartsWithoutATrainer) {
  open(sample_card());
  snapshot.trainer.state = state::TrainerSetup::State::kInstalling;
  window.frames(snapshot, 3);
  EXPECT_TRUE(window.probe().shows("The trainer is still being set up"));
  ASSERT_TRUE(window.click(snapshot, "sweep/start"));
  EXPECT_EQ(asked<state::StartSweep>(), nullptr);
}

TEST_F(SweepCardTest, CountsWhatIsLeftOutBeyondTheFirst) {
  auto card = sample_card();
  for (const char* cap : {"32", "64", "128", "256", "512"}) {
    card.doubles.push_back("bucket_cap_mb=" + std::string(cap) +
                           " does the same as bucket_cap_mb=16");
  }
  open(card);
  window.frames(snapshot, 3);
  EXPECT_TRUE(window.probe().shows("Left out: bucket_cap_mb=64"));
  EXPECT_FALSE(window.probe().shows("bucket_cap_mb=128"));
  EXPECT_TRUE(window.probe().shows("and 3 more"));
}

TEST_F(SweepCardTest, EditsTheValuesAddsAndRemovesSettings) {
  open(sample_card());
  window.frames(snapshot, 3);
  ASSERT_TRUE(window.click(snapshot, "sweep/axis/0/values"));
  window.type(snapshot, "2, 8");
  window.press(snapshot, kit::Key::kEnter);
  const auto* edit = asked<state::EditSweep>();
  ASSERT_NE(edit, nullptr);
  EXPECT_EQ(edit->draft.axes[0].values, "2, 8");
  ASSERT_TRUE(window.click(snapshot, "sweep/add"));
  ASSERT_NE(edit = asked<state::EditSweep>(), nullptr);
  ASSERT_EQ(edit->draft.axes.size(), 2u);
  EXPECT_EQ(edit->draft.axes[1].knob, "overlap_comm");
  auto card = sample_card();
  card.draft = edit->draft;
  open(card);
  ASSERT_TRUE(window.click(snapshot, "sweep/axis/0/remove"));
  ASSERT_NE(edit = asked<state::EditSweep>(), nullptr);
  ASSERT_EQ(edit->draft.axes.size(), 1u);
  EXPECT_EQ(edit->draft.axes[0].knob, "overlap_comm");
  ASSERT_TRUE(window.click(snapshot, "sweep/early_stop"));
  ASSERT_NE(edit = asked<state::EditSweep>(), nullptr);
  EXPECT_FALSE(edit->draft.stops_early);
  window.press(snapshot, kit::Key::kEscape);
  EXPECT_NE(asked<state::CloseSweepCard>(), nullptr);
}

TEST_F(SweepCardTest, OffersToVaryOnlyWhatDoesSomething) {
  auto card = sample_card();
  for (const auto& [strategy, first, second] :
       {std::tuple{trace::job::Strategy::kDdp, "overlap_comm", "batch_per_rank"},
        std::tuple{trace::job::Strategy::kFullShard, "backward_prefetch", "forward_prefetch"},
        std::tuple{trace::job::Strategy::kNoShard, "batch_per_rank", "ranks"}}) {
    snapshot.knobs.next.sharding_strategy = strategy;
    card.draft.axes.resize(1);
    for (const char* name : {first, second}) {
      open(card);
      window.frames(snapshot, 3);
      ASSERT_TRUE(window.click(snapshot, "sweep/add"));
      const auto* edit = asked<state::EditSweep>();
      ASSERT_NE(edit, nullptr);
      EXPECT_EQ(edit->draft.axes.back().knob, name);
      card.draft = edit->draft;
    }
  }
}

TEST_F(SweepCardTest, EscClosesWhatLiesAboveTheCardFirst) {
  open(sample_card());
  window.frames(snapshot, 3);
  window.type(snapshot, "?");
  ASSERT_TRUE(window.probe().shows("These keys"));
  window.press(snapshot, kit::Key::kEscape);
  EXPECT_FALSE(window.probe().shows("These keys"));
  EXPECT_EQ(asked<state::CloseSweepCard>(), nullptr);
  window.press(snapshot, kit::Key::kK, true);
  window.press(snapshot, kit::Key::kEscape);
  EXPECT_EQ(asked<state::CloseSweepCard>(), nullptr);
  ASSERT_TRUE(window.click(snapshot, "sweep/axis/0/values"));
  window.press(snapshot, kit::Key::kEscape);
  EXPECT_EQ(asked<state::CloseSweepCard>(), nullptr) << "the field was left";
  window.press(snapshot, kit::Key::kEscape);
  EXPECT_NE(asked<state::CloseSweepCard>(), nullptr);
}

// Of some eighty settings.
TEST_F(SweepCardTest, TheListOfSettingsOpensWhereItStands) {
  open(sample_card());
  window.frames(snapshot, 3);
  const state::Rect field = window.probe().find("sweep/axis/0/knob")->rect;
  ASSERT_TRUE(window.click(snapshot, "sweep/axis/0/knob"));
  window.frames(snapshot, 4);
  const auto* chosen = window.probe().find("sweep/axis/0/knob/bucket_cap_mb");
  ASSERT_NE(chosen, nullptr);
  EXPECT_GT(chosen->rect.y, field.bottom());
  EXPECT_LT(chosen->rect.bottom(), field.bottom() + 400);
}

TEST_F(SweepCardTest, TheRunOfTheKnobsDoesNotStartBehindTheCard) {
  open(sample_card());
  window.frames(snapshot, 3);
  window.press(snapshot, kit::Key::kEnter, true);
  EXPECT_EQ(asked<state::StartRun>(), nullptr);
}

TEST_F(SweepCardTest, ASearchOpensBesideStart) {
  ASSERT_TRUE(window.click(snapshot, "start/search"));
  const auto* opened = asked<state::OpenSweepCard>();
  ASSERT_NE(opened, nullptr);
  EXPECT_TRUE(opened->searches);
}

state::SweepCard search_card() {
  state::SweepCard card;
  card.draft.search.emplace();
  card.is_checked = true;
  card.name = "tune for step_time";
  card.points = 29;
  return card;
}

TEST_F(SweepCardTest, OfASearchHasGoalAndBudgetAndStarts) {
  open(search_card());
  window.frames(snapshot, 3);
  EXPECT_TRUE(window.probe().shows(
      "Tries the strategies that train the same, each with the settings that it obeys"));
  EXPECT_TRUE(window.probe().shows(
      "29 points, of which only those are run that may win beyond noise by what is predicted, for "
      "at most 10 min"));
  ASSERT_TRUE(window.click(snapshot, "sweep/budget"));
  window.type(snapshot, "45");
  window.press(snapshot, kit::Key::kEnter);
  const auto* edit = asked<state::EditSweep>();
  ASSERT_NE(edit, nullptr);
  ASSERT_TRUE(edit->draft.search);
  EXPECT_EQ(edit->draft.search->budget_minutes, 45);
  ASSERT_TRUE(window.click(snapshot, "sweep/add"));
  ASSERT_NE(edit = asked<state::EditSweep>(), nullptr);
  EXPECT_EQ(edit->draft.axes.size(), 1u);
  ASSERT_TRUE(window.click(snapshot, "sweep/start"));
  EXPECT_NE(asked<state::StartSweep>(), nullptr);
}

// Strategies vary, and what a point's own does not obey is neither said nor set.
TEST_F(SweepPanelTest, OfASearchTellsWhatItFoundAndWhyOthersWereNotRun) {
  state::ShownSweep sweep;
  sweep.name = "tune for step_time";
  sweep.phase = state::SweepPhase::kDone;
  sweep.search = {"step_time", 600, "Ended because nothing else is likely to win."};
  for (const char* name : {"sharding_strategy", "bucket_cap_mb"}) {
    sweep.varied.push_back(trace::job::find_knob(name));
  }
  for (const auto strategy : {trace::job::Strategy::kDdp, trace::job::Strategy::kFullShard}) {
    auto& point = sweep.points.emplace_back();
    point.settings.sharding_strategy = strategy;
    for (const auto* knob : sweep.varied) {
      point.values.push_back(trace::job::value_text(point.settings, *knob));
    }
  }
  sweep.points[0].reason = "would not fit in memory";
  sweep.points[1].step_ns = 1e8;
  sweep.points[1].standing = state::SweepStanding::kBest;
  sweep.best = 1;
  sweep.runs_done = 6;
  sweep.why = "sharding_strategy=full_shard: 100 ms instead of 120 ms, −17 % ± 2 % (95 %).";
  show(sweep);
  auto window = this->window(1600, 900);
  window.frames(3);
  EXPECT_TRUE(window.probe().shows(sweep.why));
  EXPECT_TRUE(window.probe().shows(sweep.search->ended));
  EXPECT_TRUE(window.probe().shows("Done: 6 runs"));
  EXPECT_TRUE(window.probe().shows("not run: would not fit in memory"));
  EXPECT_TRUE(window.probe().shows("Apply sharding_strategy=full_shard"));
  ASSERT_TRUE(window.click("sweep/apply"));
  const auto commands = window.take_commands();
  EXPECT_EQ(commands.size(), 1u) << "no cap of buckets, which it does not obey";
  ASSERT_TRUE(window.click("sweep/search"));
  const auto opened = window.take<state::OpenSweepCard>();
  ASSERT_TRUE(opened);
  EXPECT_TRUE(opened->searches);
}

}  // namespace
}  // namespace shardlens::ui::sweep
