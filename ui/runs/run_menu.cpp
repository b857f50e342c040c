#include "ui/runs/run_menu.h"

#include <imgui.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "trace/analysis/compare/run_difference.h"
#include "trace/base/number_text.h"
#include "ui/kit/keys.h"
#include "ui/kit/paint.h"
#include "ui/kit/popup.h"
#include "ui/kit/widgets.h"
#include "ui/present/tables/ledger_cells.h"
#include "ui/table/table_tools.h"

namespace shardlens::ui::runs {

namespace {

constexpr const char* kRunMenuPopup = "run menu";
constexpr float kRunMenuWidth = 272;

bool run_menu_entry(const kit::Theme& theme, std::string_view name, std::string_view label) {
  return table::menu_entry(theme, name, label, theme.px(kRunMenuWidth));
}

void word_field(const kit::Theme& theme, const std::string& name, std::string_view label,
                std::string& text, std::string_view hint) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  state::Rect row{at.x + theme.px(10), at.y + theme.px(2), theme.px(kRunMenuWidth - 16),
                  theme.px(26)};
  kit::text_in(theme, row.take_left(theme.px(44)), kit::Face::kSmall, theme.colors().text_muted,
               label);
  table::filter_field(theme, name, row, text, hint);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({theme.px(kRunMenuWidth), theme.px(30)});
}

void draw_settings(const kit::Theme& theme, const std::string& folder, state::Commands& commands) {
  if (run_menu_entry(theme, "menu/settings", "Use its settings for the next run"))
    commands.push_back(state::CopySettings{folder});
  constexpr std::array<std::array<std::string_view, 3>, 3> kFrameworks{{
      {"menu/pytorch", "pytorch", "Copy its settings as PyTorch code"},
      {"menu/deepspeed", "deepspeed", "Copy its settings as ds_config.json"},
      {"menu/accelerate", "accelerate", "Copy its settings as Accelerate YAML"},
  }};
  for (const auto& [name, format, label] : kFrameworks) {
    if (run_menu_entry(theme, name, label)) {
      commands.push_back(state::CopySettingsAs{folder, std::string(format)});
    }
  }
}

std::vector<std::string> folders_of(const std::vector<state::LedgerRow>& runs) {
  std::vector<std::string> folders;
  for (const state::LedgerRow& run : runs) folders.push_back(run.folder);
  return folders;
}

std::string count_of(std::size_t runs) {
  return trace::base::counted(static_cast<std::int64_t>(runs), "run");
}

}  // namespace

bool may_be_deleted(const state::LedgerRow& row) {
  return !row.is_bundled && row.status != trace::model::RunStatus::kRunning;
}

std::size_t deletable_runs(const std::vector<state::LedgerRow>& runs) {
  return static_cast<std::size_t>(std::ranges::count_if(runs, may_be_deleted));
}

bool may_be_compared(const std::vector<state::LedgerRow>& runs) {
  return runs.size() >= trace::analysis::kFewestCompared &&
         runs.size() <= trace::analysis::kMostCompared;
}

void compare_runs(const std::vector<state::LedgerRow>& runs, state::Commands& commands) {
  if (!may_be_compared(runs)) return;
  std::vector<state::LedgerRow> ordered = runs;
  std::ranges::stable_sort(ordered, {}, &state::LedgerRow::start_ns);
  std::ranges::stable_partition(ordered, &state::LedgerRow::is_baseline);
  commands.push_back(state::CompareRuns{folders_of(ordered)});
}

void delete_runs(const std::vector<state::LedgerRow>& runs, state::Commands& commands) {
  state::DeleteRuns command;
  for (const state::LedgerRow& run : runs) {
    if (may_be_deleted(run)) command.folders.push_back(run.folder);
  }
  if (!command.folders.empty()) commands.push_back(std::move(command));
}

void RunMenu::open(std::vector<state::LedgerRow> runs) {
  runs_ = std::move(runs);
  if (runs_.empty()) return;
  name_ = runs_.front().name;
  note_ = runs_.front().note;
  tags_ = runs_.size() == 1 ? present::tags_text(runs_.front().tags) : "";
  wants_open_ = true;
}

bool RunMenu::may_change() const {
  return std::ranges::none_of(runs_, &state::LedgerRow::is_bundled);
}

void RunMenu::draw_entries(const kit::Theme& theme, state::Commands& commands) {
  const state::LedgerRow& run = runs_.front();
  if (runs_.size() > 1) {
    if (may_be_compared(runs_) &&
        run_menu_entry(theme, "menu/compare", "Compare " + count_of(runs_.size()))) {
      compare_runs(runs_, commands);
    }
    const std::size_t deletable = deletable_runs(runs_);
    if (deletable > 0 && run_menu_entry(theme, "menu/delete", "Delete " + count_of(deletable)))
      delete_runs(runs_, commands);
    return;
  }
  if (run_menu_entry(theme, "menu/show", "Show")) commands.push_back(state::ShowRun{run.folder});
  if (run_menu_entry(theme, "menu/replay", "Replay"))
    commands.push_back(state::StartReplay{run.folder});
  if (run.is_pinned) {
    if (run_menu_entry(theme, "menu/unpin", "The last run as baseline again"))
      commands.push_back(state::SetBaseline{});
  } else if (run_menu_entry(theme, "menu/baseline", "Set as baseline")) {
    commands.push_back(state::SetBaseline{run.folder});
  }
  if (!run.is_imported) draw_settings(theme, run.folder, commands);
  if (run_menu_entry(theme, "menu/folder", "Copy the folder's path"))
    commands.push_back(state::CopyText{run.folder});
  if (may_be_deleted(run) && run_menu_entry(theme, "menu/delete", "Delete"))
    delete_runs(runs_, commands);
}

void RunMenu::draw_words(const kit::Theme& theme) {
  if (!may_change()) return;
  if (runs_.size() == 1) {
    word_field(theme, "menu/name", "Name", name_, "");
    word_field(theme, "menu/note", "Note", note_, "what is to be remembered");
  }
  word_field(theme, "menu/tags", "Tags", tags_,
             runs_.size() == 1 ? "words to find it by" : "added to all of them");
}

// Once the menu is closed, however that came about.
void RunMenu::send_words(state::Commands& commands) {
  if (runs_.empty() || !may_change()) return;
  const auto tags = present::tags_from_text(tags_);
  if (runs_.size() > 1) {
    for (const state::LedgerRow& run : runs_) {
      auto all = present::tags_from_text(present::tags_text(run.tags) + " " + tags_);
      if (all != run.tags)
        commands.push_back(state::EditRuns{{run.folder}, {}, {}, std::move(all)});
    }
    return;
  }
  const state::LedgerRow& run = runs_.front();
  state::EditRuns change{folders_of(runs_), {}, {}, {}};
  if (name_ != run.name && !name_.empty()) change.name = name_;
  if (note_ != run.note) change.note = note_;
  if (tags != run.tags) change.tags = tags;
  if (change.name || change.note || change.tags) commands.push_back(std::move(change));
}

void RunMenu::draw_title(const kit::Theme& theme) const {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const state::Rect title{at.x, at.y, theme.px(kRunMenuWidth), theme.px(28)};
  const state::Rect words = title.inset(theme.px(10), 0);
  const std::string name =
      kit::fitting_name(theme, kit::Face::kStrong,
                        runs_.size() == 1 ? runs_.front().name : count_of(runs_.size()), words.w);
  kit::text_in(theme, words, kit::Face::kStrong, theme.colors().text_secondary, name);
  ImGui::Dummy({title.w, title.h});
}

void RunMenu::draw(const kit::Theme& theme, state::Commands& commands) {
  if (std::exchange(wants_open_, false)) ImGui::OpenPopup(kRunMenuPopup);
  const bool was_open = is_open_;
  const std::size_t before = commands.size();
  kit::place_popup(theme);
  {
    const kit::PopupScope menu(theme, kRunMenuPopup);
    is_open_ = menu.is_open();
    if (is_open_) {
      draw_title(theme);
      draw_entries(theme, commands);
      draw_words(theme);
      if (kit::enter_pressed()) ImGui::CloseCurrentPopup();
    }
  }
  const bool picked = commands.size() > before;
  if (was_open && !is_open_) send_words(commands);
  if (picked) runs_.clear();  // an entry was meant, not the words
}

}  // namespace shardlens::ui::runs
