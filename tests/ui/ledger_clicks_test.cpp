// Runs in the ledger by mouse and keyboard: shown, selected, changed in their menu and deleted.
#include <gtest/gtest.h>
#include <imgui.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "tests/ui/testing/click_test.h"
#include "tests/ui/testing/own_copy.h"

namespace shardlens::ui {
namespace {

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

}  // namespace
}  // namespace shardlens::ui
