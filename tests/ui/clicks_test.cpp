// Clicks, drags and keys in a headless window become commands.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "tests/ui/testing/headless_window.h"
#include "tests/ui/testing/own_copy.h"
#include "tests/ui/testing/sample_snapshot.h"
#include "trace/job/shape/strategy.h"
#include "ui/present/format.h"
#include "ui/window/main_view.h"

namespace shardlens::ui {

namespace {

class ClickTest : public ::testing::Test {
 protected:
  HeadlessWindow window_{1600, 1000};
  state::Snapshot snapshot_ = sample_snapshot();

  template <typename T>
  const T* command() {
    commands_ = window_.take_commands();
    return HeadlessWindow::find<T>(commands_);
  }
  // Of the first rank, in the middle of its lane.
  void click_collective() {
    window_.frame(snapshot_);
    const state::Rect plot = window_.probe().find("inspect/plot")->rect;
    const inspect::ShownRow& row = window_.view().workspace().timeline().layout().rows.at(2);
    window_.click_at(snapshot_, plot.x + plot.w * 0.6f, plot.y + row.y + row.height / 2);
  }
  state::Commands commands_;
};

TEST_F(ClickTest, StopsTheRunFromTheTopBar) {
  ASSERT_TRUE(window_.click(snapshot_, "top/stop"));
  EXPECT_NE(command<state::StopRun>(), nullptr);
}

TEST_F(ClickTest, StopsAtOnceWithASecondPressButNotWithADoubleClick) {
  ASSERT_TRUE(window_.click(snapshot_, "top/stop"));
  ASSERT_NE(command<state::StopRun>(), nullptr);
  snapshot_.job.phase = state::JobPhase::kStopping;
  ASSERT_TRUE(window_.click(snapshot_, "top/stop"));
  EXPECT_EQ(command<state::StopRunNow>(), nullptr) << "the second click of a double click";
  window_.frames(snapshot_, 60);
  ASSERT_TRUE(window_.click(snapshot_, "top/stop"));
  EXPECT_NE(command<state::StopRunNow>(), nullptr);
}

TEST_F(ClickTest, SaysInThePaletteWhatASecondStopDoes) {
  snapshot_.job.phase = state::JobPhase::kStopping;
  window_.frame(snapshot_);
  window_.press(snapshot_, kit::Key::kK, true);
  window_.type(snapshot_, "stop the run");
  EXPECT_TRUE(window_.probe().shows("Stop the run now, without what is not saved"));
  window_.press(snapshot_, kit::Key::kEnter);
  EXPECT_NE(command<state::StopRunNow>(), nullptr);
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

TEST_F(ClickTest, ChangesAKnobByItsSliderCheckboxAndList) {
  window_.resize(1600, 1400);
  ASSERT_TRUE(window_.drag(snapshot_, "slider/bucket_cap_mb", 0.5f, 0.9f));
  const auto* dragged = command<state::SetKnob>();
  ASSERT_NE(dragged, nullptr);
  EXPECT_EQ(dragged->name, "bucket_cap_mb");
  ASSERT_TRUE(window_.click(snapshot_, "knob/static_graph"));
  const auto* checked = command<state::SetKnob>();
  ASSERT_NE(checked, nullptr);
  EXPECT_EQ(checked->text, "true");
  ASSERT_TRUE(window_.click(snapshot_, "knob/model"));
  ASSERT_TRUE(window_.click(snapshot_, "knob/model/gpt2"));
  const auto* chosen = command<state::SetKnob>();
  ASSERT_NE(chosen, nullptr);
  EXPECT_EQ(chosen->text, "gpt2");
}

TEST_F(ClickTest, ShowsEveryKnobsNameAndChoiceUncut) {
  window_.resize(1600, 2600);
  snapshot_.knobs.next.communication_hook = trace::job::CommunicationHook::kBf16Compress;
  for (const trace::job::StrategyTraits& strategy : trace::job::strategies()) {
    snapshot_.knobs.next.sharding_strategy = strategy.strategy;
    window_.frames(snapshot_, 2);
    for (const trace::job::Knob& knob : trace::job::knobs()) {
      if (!knob.essential || !trace::job::applies(knob, strategy.strategy)) continue;
      EXPECT_TRUE(window_.probe().shows(knob.name)) << knob.name << " with " << strategy.name;
      EXPECT_TRUE(window_.probe().shows(knob.label)) << knob.label << " with " << strategy.name;
    }
  }
  for (const auto& text : window_.probe().texts) {
    if (text.rect.x >= 312) continue;
    EXPECT_EQ(text.text.find("bf16_compr…"), std::string::npos);
  }
}

TEST_F(ClickTest, ShowsTheEndOfALongPathBesideTheKnobsName) {
  snapshot_.knobs.next.model = "/home/somebody/models of mine/hub/Llama-3.2-1B-Instruct";
  window_.frames(snapshot_, 2);
  EXPECT_TRUE(window_.probe().shows("Llama-3.2-1B-Instruct"));
  const kit::DrawProbe::Target* field = window_.probe().find("knob/model");
  ASSERT_NE(field, nullptr);
  for (const auto& text : window_.probe().texts) {
    if (text.text != "Model" || text.rect.x >= 312) continue;
    EXPECT_LT(text.rect.right(), field->rect.x);
  }
}

TEST_F(ClickTest, ChangesAKnobByTyping) {
  ASSERT_TRUE(window_.click(snapshot_, "knob/ranks"));
  window_.type(snapshot_, "4");
  window_.press(snapshot_, kit::Key::kEnter);
  const auto* typed = command<state::SetKnob>();
  ASSERT_NE(typed, nullptr);
  EXPECT_EQ(typed->name, "ranks");
  EXPECT_EQ(typed->text, "4");
}

TEST_F(ClickTest, UndoesAChangedKnob) {
  window_.resize(1600, 1400);  // the knob is in view
  window_.frame(snapshot_);
  ASSERT_TRUE(window_.click(snapshot_, "undo/bucket_cap_mb"));
  const auto* reset = command<state::ResetKnob>();
  ASSERT_NE(reset, nullptr);
  EXPECT_EQ(reset->name, "bucket_cap_mb");
  ASSERT_TRUE(window_.click(snapshot_, "knobs/reset"));
  EXPECT_NE(command<state::ResetKnobs>(), nullptr);
}

TEST_F(ClickTest, SelectsAStepInTheChart) {
  ASSERT_TRUE(window_.click(snapshot_, "steps/plot"));
  const auto* selected = command<state::SelectStep>();
  ASSERT_NE(selected, nullptr);
  EXPECT_GE(selected->step, 0);
  EXPECT_LT(selected->step, 120);
}

// Of many steps a bar shows the slowest, but its mark is another one's.
TEST_F(ClickTest, AMarkedBarTellsAndSelectsTheStepItIsMarkedFor) {
  snapshot_ = sample_snapshot({.steps = 3000, .live = false});
  auto& run = own_copy(snapshot_.run);
  auto& steps = run.figures.steps;
  for (auto& step : steps) step.nonfinite = false;
  steps[2000].nonfinite = true;
  for (auto& rank : steps[2000].ranks) rank.step_ns /= 2;
  window_.frames(snapshot_, 2);
  const state::Rect plot = window_.probe().find("steps/plot")->rect;
  float x = plot.x + 1;
  while (x < plot.right() && !window_.probe().shows("not finite")) {
    window_.move_to(snapshot_, x += 2, plot.center_y());
  }
  const std::string name = "Step " + present::format_integer(steps[2000].index);
  EXPECT_TRUE(window_.probe().shows(name + ": Loss or gradient norm is not finite"));
  window_.take_commands();
  window_.click_at(snapshot_, x, plot.center_y());
  const auto* selected = command<state::SelectStep>();
  ASSERT_NE(selected, nullptr);
  EXPECT_EQ(selected->step, steps[2000].index);
}

TEST_F(ClickTest, WalksThroughStepsWithArrows) {
  window_.frame(snapshot_);
  window_.press(snapshot_, kit::Key::kLeft);
  const auto* before = command<state::SelectStep>();
  ASSERT_NE(before, nullptr);
  EXPECT_EQ(before->step, 118);
  window_.press(snapshot_, kit::Key::kRight);
  EXPECT_EQ(command<state::SelectStep>(), nullptr) << "there is no step behind the last";
}

TEST_F(ClickTest, PausesFollowingWithSpace) {
  window_.frame(snapshot_);
  window_.press(snapshot_, kit::Key::kSpace);
  const auto* paused = command<state::SelectStep>();
  ASSERT_NE(paused, nullptr);
  EXPECT_EQ(paused->step, 119);
}

TEST_F(ClickTest, ShowsARunByClickAndReplaysItByDoubleClick) {
  ASSERT_TRUE(window_.click(snapshot_, "ledger/runs/baseline"));
  const auto* shown = command<state::ShowRun>();
  ASSERT_NE(shown, nullptr);
  EXPECT_EQ(shown->folder, "runs/baseline");
  ASSERT_TRUE(window_.double_click(snapshot_, "ledger/runs/cap 0.25"));
  const auto* replayed = command<state::StartReplay>();
  ASSERT_NE(replayed, nullptr);
  EXPECT_EQ(replayed->folder, "runs/cap 0.25");
  EXPECT_TRUE(std::holds_alternative<state::StartReplay>(commands_.back()))
      << "or the run is shown instead";
}

// While a large run is opened, the one before is on screen still, and may be gone back to.
TEST_F(ClickTest, ShowsTheRunOnScreenAgainUnlessItIsReplayed) {
  const auto& rows = snapshot_.ledger->rows;
  const auto& row = *std::ranges::find(rows, true, &state::LedgerRow::is_shown);
  ASSERT_TRUE(window_.click(snapshot_, "ledger/" + row.folder));
  const auto* shown = command<state::ShowRun>();
  ASSERT_NE(shown, nullptr);
  EXPECT_EQ(shown->folder, row.folder);
  snapshot_.replay.active = true;
  window_.frames(snapshot_, 60);  // no double click
  window_.take_commands();
  ASSERT_TRUE(window_.click(snapshot_, "ledger/" + row.folder));
  EXPECT_EQ(command<state::ShowRun>(), nullptr) << "which would end the replay";
}

TEST_F(ClickTest, OffersNoSettingsOfAnImportedRun) {
  auto& ledger = own_copy(snapshot_.ledger);
  for (state::LedgerRow& row : ledger.rows) row.is_imported = true;
  ASSERT_TRUE(window_.click(snapshot_, "ledger/runs/baseline", 1));
  window_.frames(snapshot_, 2);
  EXPECT_NE(window_.probe().find("menu/show"), nullptr);
  EXPECT_EQ(window_.probe().find("menu/settings"), nullptr);
  EXPECT_EQ(window_.probe().find("menu/pytorch"), nullptr);
}

TEST_F(ClickTest, OffersMoreByRightClickOnARun) {
  ASSERT_TRUE(window_.click(snapshot_, "ledger/runs/baseline", 1));
  EXPECT_TRUE(window_.probe().shows("Use its settings for the next run"));
  EXPECT_TRUE(window_.probe().shows("Copy its settings as PyTorch code"));
  ASSERT_TRUE(window_.click(snapshot_, "menu/settings"));
  const auto* copied = command<state::CopySettings>();
  ASSERT_NE(copied, nullptr);
  EXPECT_EQ(copied->folder, "runs/baseline");
}

TEST_F(ClickTest, OffersARunsSettingsForOtherFrameworks) {
  for (const std::string format : {"pytorch", "deepspeed", "accelerate"}) {
    ASSERT_TRUE(window_.click(snapshot_, "ledger/runs/baseline", 1));
    ASSERT_TRUE(window_.click(snapshot_, "menu/" + format));
    const auto* copied = command<state::CopySettingsAs>();
    ASSERT_NE(copied, nullptr);
    EXPECT_EQ(copied->folder, "runs/baseline");
    EXPECT_EQ(copied->format, format);
    window_.take_commands();
  }
}

TEST_F(ClickTest, SelectsSeveralRunsDeletesThemAndTakesThatBack) {
  ASSERT_TRUE(window_.click(snapshot_, "ledger/runs/baseline"));
  window_.take_commands();
  ImGui::GetIO().KeyShift = true;
  ASSERT_TRUE(window_.click(snapshot_, "ledger/runs/cap 0.25"));
  ImGui::GetIO().KeyShift = false;
  ImGui::GetIO().KeyCtrl = true;
  ASSERT_TRUE(window_.click(snapshot_, "ledger/runs/hook bf16_compress"));
  ImGui::GetIO().KeyCtrl = false;
  EXPECT_EQ(command<state::ShowRun>(), nullptr) << "selecting shows nothing";
  ASSERT_TRUE(window_.click(snapshot_, "ledger/compare"));
  const auto* compared = command<state::CompareRuns>();
  ASSERT_NE(compared, nullptr);
  EXPECT_EQ(compared->folders, (std::vector<std::string>{"runs/baseline", "runs/cap 0.25"}))
      << "the baseline is what the other is compared with";
  EXPECT_TRUE(window_.view().compares());
  window_.press(snapshot_, kit::Key::kOne, true);
  ASSERT_TRUE(window_.click(snapshot_, "ledger/delete"));
  const auto* deleted = command<state::DeleteRuns>();
  ASSERT_NE(deleted, nullptr);
  EXPECT_EQ(deleted->folders, (std::vector<std::string>{"runs/baseline", "runs/cap 0.25"}));
  EXPECT_FALSE(window_.click(snapshot_, "ledger/undo")) << "nothing is deleted yet";
  auto& ledger = own_copy(snapshot_.ledger);
  std::erase_if(ledger.rows,
                [&](const state::LedgerRow& row) { return row.folder == "runs/baseline"; });
  ledger.deleted = 2;
  window_.frames(snapshot_, 2);
  ASSERT_TRUE(window_.click(snapshot_, "ledger/undo"));
  EXPECT_NE(command<state::UndoDelete>(), nullptr);
}

// Of the others, the one that runs and an example.
TEST_F(ClickTest, DeletesAsManyAsItSays) {
  const std::string running = "ledger/" + snapshot_.run->figures.info.folder;
  window_.frames(snapshot_, 2);
  ImGui::GetIO().KeyCtrl = true;
  for (const std::string& name :
       {running, std::string("ledger/runs/demo, two ranks"), std::string("ledger/runs/baseline")}) {
    ASSERT_TRUE(window_.click(snapshot_, name));
  }
  ImGui::GetIO().KeyCtrl = false;
  window_.frames(snapshot_, 2);
  EXPECT_TRUE(window_.probe().shows("Delete 1"));
  EXPECT_TRUE(window_.probe().shows("Compare 3"));
  ASSERT_TRUE(window_.click(snapshot_, "ledger/runs/baseline", 1));
  EXPECT_TRUE(window_.probe().shows("Delete 1 run"));
  EXPECT_FALSE(window_.probe().shows("Delete 1 runs"));
  window_.press(snapshot_, kit::Key::kEscape);
  ASSERT_TRUE(window_.click(snapshot_, "ledger/delete"));
  const auto* deleted = command<state::DeleteRuns>();
  ASSERT_NE(deleted, nullptr);
  EXPECT_EQ(deleted->folders, std::vector<std::string>{"runs/baseline"});
}

TEST_F(ClickTest, RenamesNotesAndTagsARunInItsMenu) {
  ASSERT_TRUE(window_.click(snapshot_, "ledger/runs/baseline", 1));
  ASSERT_TRUE(window_.click(snapshot_, "menu/note"));
  window_.type(snapshot_, "as last week");
  ASSERT_TRUE(window_.click(snapshot_, "menu/tags"));
  window_.type(snapshot_, "slow to-show");
  EXPECT_EQ(command<state::EditRuns>(), nullptr) << "not while it is being written";
  window_.press(snapshot_, kit::Key::kEnter);
  window_.frames(snapshot_, 2);
  const auto* edit = command<state::EditRuns>();
  ASSERT_NE(edit, nullptr);
  EXPECT_EQ(edit->folders, std::vector<std::string>{"runs/baseline"});
  EXPECT_FALSE(edit->name);
  EXPECT_EQ(edit->note, "as last week");
  EXPECT_EQ(edit->tags, (std::vector<std::string>{"slow", "to-show"}));
}

TEST_F(ClickTest, EscClosesTheMenuOfARunAndLeavesTheRestAlone) {
  click_collective();
  const auto& pinned = window_.view().workspace().timeline().state().pinned;
  ASSERT_TRUE(pinned.has_value());
  ASSERT_TRUE(window_.click(snapshot_, "ledger/runs/baseline", 1));
  ASSERT_NE(window_.probe().find("menu/replay"), nullptr);
  window_.press(snapshot_, kit::Key::kEscape);
  EXPECT_EQ(window_.probe().find("menu/replay"), nullptr);
  EXPECT_TRUE(pinned.has_value());
}

// Near the lower edge a list lies above its field; where it has room on neither side, it scrolls.
TEST_F(ClickTest, ListsOfChoicesStayInTheWindow) {
  snapshot_ = empty_snapshot();
  for (const int height : {1000, 800, 720, 640}) {
    window_.resize(1280, height);
    window_.frames(snapshot_, 3);
    const auto* field = window_.probe().find("knob/sharding_strategy");
    ASSERT_NE(field, nullptr);
    if (field->rect.bottom() > static_cast<float>(height)) continue;
    ASSERT_TRUE(window_.click(snapshot_, "knob/sharding_strategy"));
    window_.frames(snapshot_, 4);
    for (const char* choice : {"ddp", "hybrid_shard_zero2"}) {
      const auto* entry = window_.probe().find("knob/sharding_strategy/" + std::string(choice));
      ASSERT_NE(entry, nullptr) << height;
      EXPECT_GE(entry->rect.y, 0) << choice << " at " << height;
      EXPECT_LE(entry->rect.bottom(), static_cast<float>(height)) << choice << " at " << height;
    }
    window_.press(snapshot_, kit::Key::kEscape);
    window_.frames(snapshot_, 2);
  }
}

TEST_F(ClickTest, InASmallWindowDeletedRunsCanBeTakenBack) {
  // As wide as leaves the filter no room.
  for (int width = 1024; width > 700; width -= 16) {
    window_.resize(width, 800);
    window_.frames(snapshot_, 2);
    if (window_.probe().find("ledger/filter") == nullptr) break;
  }
  ASSERT_EQ(window_.probe().find("ledger/filter"), nullptr);
  auto& ledger = own_copy(snapshot_.ledger);
  ledger.deleted = 2;
  window_.frames(snapshot_, 2);
  ASSERT_TRUE(window_.click(snapshot_, "ledger/undo"));
  EXPECT_NE(command<state::UndoDelete>(), nullptr);
}

// Names of a sweep begin alike.
TEST_F(ClickTest, TheMenuShowsTheEndOfALongName) {
  auto& ledger = own_copy(snapshot_.ledger);
  const auto row = std::ranges::find(ledger.rows, "runs/baseline", &state::LedgerRow::folder);
  row->name = "sweep of batch_per_rank and of bucket_cap_mb, batch 4, cap 25, run 2";
  window_.frames(snapshot_, 2);
  ASSERT_TRUE(window_.click(snapshot_, "ledger/runs/baseline", 1));
  window_.move_to(snapshot_, 4, 4);
  window_.frames(snapshot_, 2);
  const float menu_top = window_.probe().find("menu/show")->rect.y;
  EXPECT_TRUE(std::ranges::any_of(window_.probe().texts, [&](const auto& text) {
    return text.rect.bottom() <= menu_top && text.rect.bottom() > menu_top - 28 &&
           text.text.starts_with("sweep of") && text.text.ends_with("cap 25, run 2");
  }));
}

TEST_F(ClickTest, RunsThatCameWithTheProgramAreNeitherChangedNorDeleted) {
  ASSERT_TRUE(window_.click(snapshot_, "ledger/runs/demo, two ranks", 1));
  window_.frames(snapshot_, 2);
  EXPECT_EQ(window_.probe().find("menu/name"), nullptr);
  EXPECT_EQ(window_.probe().find("menu/delete"), nullptr);
  EXPECT_NE(window_.probe().find("menu/show"), nullptr);
}

TEST_F(ClickTest, KeepsTheSelectionWhileTheFilterHidesIt) {
  ASSERT_TRUE(window_.click(snapshot_, "ledger/runs/baseline"));
  ImGui::GetIO().KeyCtrl = true;
  ASSERT_TRUE(window_.click(snapshot_, "ledger/runs/cap 0.25"));
  ImGui::GetIO().KeyCtrl = false;
  ASSERT_TRUE(window_.click(snapshot_, "ledger/filter"));
  window_.type(snapshot_, "sharding_strategy=f");
  window_.frames(snapshot_, 2);
  EXPECT_EQ(window_.probe().find("ledger/runs/baseline"), nullptr);
  EXPECT_EQ(window_.probe().find("ledger/delete"), nullptr);
  ASSERT_TRUE(window_.click(snapshot_, "ledger/filter/clear"));
  window_.frames(snapshot_, 2);
  EXPECT_NE(window_.probe().find("ledger/delete"), nullptr);
}

TEST_F(ClickTest, MarksARunThatTookAnotherTimeThanPredicted) {
  window_.resize(2400, 1000);
  state::LedgerRow& row = own_copy(snapshot_.ledger).rows[1];
  row.status = trace::model::RunStatus::kDone;
  row.summary.step_ns.mean = 325.2e6;
  row.predicted = trace::model::StepPrediction{331e6, 320e6, 340e6, "run"};
  const std::string figures = "331.0 → 325.2 ms";
  const auto room_in_front = [&] {
    window_.frames(snapshot_, 2);
    const auto* head = window_.probe().find("ledger/head/Predicted → measured");
    const auto& texts = window_.probe().texts;
    const auto text = std::ranges::find(texts, figures, &kit::DrawProbe::Text::text);
    return head == nullptr || text == texts.end() ? -1 : text->rect.x - head->rect.x;
  };
  const float unmarked = room_in_front();
  ASSERT_GE(unmarked, 0);
  own_copy(snapshot_.ledger).rows[1].predicted->low_ns = 326e6;
  EXPECT_GT(room_in_front(), unmarked + 10) << "for a sign";
}

TEST_F(ClickTest, SortsAndFiltersTheLedger) {
  const auto top = [&](const char* run) { return window_.probe().find(run)->rect.y; };
  window_.frame(snapshot_);
  EXPECT_LT(top("ledger/runs/baseline"), top("ledger/runs/cap 0.25"));
  ASSERT_TRUE(window_.click(snapshot_, "ledger/head/Step time"));
  window_.frames(snapshot_, 2);
  EXPECT_GT(top("ledger/runs/baseline"), top("ledger/runs/cap 0.25")) << "the slowest first";
  ASSERT_TRUE(window_.click(snapshot_, "ledger/filter"));
  window_.type(snapshot_, "bf16_compress");
  window_.frames(snapshot_, 2);
  EXPECT_NE(window_.probe().find("ledger/runs/hook bf16_compress"), nullptr);
  EXPECT_EQ(window_.probe().find("ledger/runs/baseline"), nullptr);
  EXPECT_TRUE(window_.probe().shows("1 of 5 runs"));
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

TEST_F(ClickTest, ControlsTheReplay) {
  snapshot_ = replay_snapshot();
  ASSERT_TRUE(window_.click(snapshot_, "replay/play"));
  const auto* playing = command<state::SetReplayPlaying>();
  ASSERT_NE(playing, nullptr);
  EXPECT_FALSE(playing->playing);
  ASSERT_TRUE(window_.click(snapshot_, "replay/faster"));
  EXPECT_DOUBLE_EQ(command<state::SetReplaySpeed>()->speed, 5);
  ASSERT_TRUE(window_.drag(snapshot_, "replay/scrubber", 0.6f, 0.25f));
  const auto* sought = command<state::SeekReplay>();
  ASSERT_NE(sought, nullptr);
  EXPECT_LT(sought->time_ns, snapshot_.replay.now_ns);
  ASSERT_TRUE(window_.click(snapshot_, "replay/leave"));
  EXPECT_NE(command<state::StopReplay>(), nullptr);
}

TEST_F(ClickTest, ZoomsTheTimelineAtThePointerAndFitsIt) {
  window_.frame(snapshot_);
  const state::Rect plot = window_.probe().find("inspect/plot")->rect;
  window_.move_to(snapshot_, plot.center_x(), plot.center_y());
  const inspect::TimeWindow& view = window_.view().workspace().timeline().state().step_window;
  const double span = view.span_ns();
  window_.wheel(snapshot_, 3);
  EXPECT_LT(view.span_ns(), span * 0.6);
  window_.press(snapshot_, kit::Key::kF);
  EXPECT_DOUBLE_EQ(view.span_ns(), span);
}

TEST_F(ClickTest, PinsDetailsOfACollectiveAndClearsThem) {
  click_collective();
  const auto& pinned = window_.view().workspace().timeline().state().pinned;
  ASSERT_TRUE(pinned && pinned->collective);
  window_.frame(snapshot_);
  EXPECT_TRUE(window_.probe().shows("Transferring"));
  window_.press(snapshot_, kit::Key::kEscape);
  EXPECT_FALSE(pinned);
}

TEST_F(ClickTest, DropsWhatIsPinnedWithItsStepAndItsRun) {
  const auto& pinned = window_.view().workspace().timeline().state().pinned;
  const auto pin = [&] {
    window_.frames(snapshot_, 20);  // not a double-click
    click_collective();
    return pinned.has_value();
  };
  ASSERT_TRUE(pin());
  auto run = std::make_shared<state::RunView>(*snapshot_.run);
  auto timeline = std::make_shared<trace::timeline::StepPicture>(*run->timeline);
  auto rows = std::make_shared<trace::timeline::TimelineRows>(*timeline->rows);
  timeline->rows = rows;
  run->timeline = timeline;
  snapshot_.run = run;
  window_.frame(snapshot_);
  EXPECT_TRUE(pinned.has_value()) << "more of the same step came in";
  run = std::make_shared<state::RunView>(*run);
  timeline = std::make_shared<trace::timeline::StepPicture>(*timeline);
  rows = std::make_shared<trace::timeline::TimelineRows>(*rows);
  for (auto& border : rows->steps) border.step = 7;
  timeline->rows = rows;
  timeline->step = run->selected_step = 7;
  run->timeline = timeline;
  snapshot_.run = run;
  window_.frame(snapshot_);
  EXPECT_FALSE(pinned.has_value());
  ASSERT_TRUE(pin());
  run = std::make_shared<state::RunView>(*snapshot_.run);
  run->figures.info.folder = "runs/another";
  snapshot_.run = run;
  window_.frame(snapshot_);
  EXPECT_FALSE(pinned.has_value());
}

TEST_F(ClickTest, SaysThatAStepWasRecordedWithoutDetail) {
  auto& run = own_copy(snapshot_.run);
  const auto timeline = std::make_shared<trace::timeline::StepPicture>(*run.timeline);
  timeline->has_detail = false;
  run.timeline = timeline;
  window_.frames(snapshot_, 2);
  EXPECT_TRUE(window_.probe().shows("recorded without detail"));
  EXPECT_TRUE(window_.probe().shows("record_limit_mb")) << "“Record” has every step";
  run.figures.info.settings.record = "every 1000th";
  window_.frames(snapshot_, 2);
  EXPECT_TRUE(window_.probe().shows("set “Record” to every step"));
  run.figures.info.imported_from = "PyTorch profiler";
  window_.frames(snapshot_, 2);
  EXPECT_TRUE(window_.probe().shows("does not tell where this step's time went"));
  EXPECT_FALSE(window_.probe().shows("recorded without detail"));
}

// On the timeline and under the mouse in the chart, where its bar is the only one.
TEST_F(ClickTest, SaysThatAStepIsNotReadYet) {
  auto& run = own_copy(snapshot_.run);
  const auto timeline = std::make_shared<trace::timeline::StepPicture>(*run.timeline);
  timeline->has_detail = false;
  timeline->awaits_detail = true;
  run.timeline = timeline;
  auto& steps = run.figures.steps;
  steps.erase(steps.begin(), steps.end() - 1);
  steps[0].ranks[0].has_detail = false;
  steps[0].ranks[0].awaits_detail = true;
  window_.frames(snapshot_, 2);
  EXPECT_TRUE(window_.probe().shows("Not read yet: the GPU's records of this step"));
  EXPECT_TRUE(std::ranges::any_of(window_.probe().texts, [](const auto& text) {
    return text.text == "Not read yet";  // the legend
  }));
  EXPECT_FALSE(window_.probe().shows("ecorded without detail"));
  const state::Rect plot = window_.probe().find("steps/plot")->rect;
  window_.move_to(snapshot_, plot.x + 5, plot.bottom() - 5);
  window_.frames(snapshot_, 2);
  EXPECT_TRUE(window_.probe().shows("the GPU's records of this step have not come"));
  run.figures.info.status = trace::model::RunStatus::kFailed;
  window_.frames(snapshot_, 2);
  EXPECT_TRUE(window_.probe().shows("broke off before the GPU's records of this step came"));
  EXPECT_FALSE(window_.probe().shows("Not read yet"));
}

TEST_F(ClickTest, SetsAKnobFromTheCommandPalette) {
  window_.frame(snapshot_);
  window_.press(snapshot_, kit::Key::kK, true);
  window_.type(snapshot_, "bucket_cap_mb 4");
  window_.press(snapshot_, kit::Key::kEnter);
  const auto* set = command<state::SetKnob>();
  ASSERT_NE(set, nullptr);
  EXPECT_EQ(set->text, "4");
}

// As the ledger calls it.
TEST_F(ClickTest, OpensARunByItsNumberFromTheCommandPalette) {
  const auto& rows = snapshot_.ledger->rows;
  const auto& row = *std::ranges::find(rows, "run 2", &state::LedgerRow::ordinal);
  window_.frame(snapshot_);
  window_.press(snapshot_, kit::Key::kK, true);
  window_.type(snapshot_, "run 2");
  window_.frames(snapshot_, 2);
  EXPECT_TRUE(window_.probe().shows("Open " + row.ordinal + " · " + row.name));
  window_.press(snapshot_, kit::Key::kEnter);
  const auto* shown = command<state::ShowRun>();
  ASSERT_NE(shown, nullptr);
  EXPECT_EQ(shown->folder, row.folder);
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
