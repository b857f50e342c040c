#include "app/session/baseline.h"

#include <algorithm>
#include <utility>

namespace shardlens::app::session {

using trace::model::RunStatus;

namespace {

bool has_ended_usefully(const ui::state::LedgerRow& row) {
  return row.status == RunStatus::kDone || row.status == RunStatus::kStopped ||
         row.status == RunStatus::kIncomplete;
}

// The user's newest. Null: there is none.
const ui::state::LedgerRow* last_run(LedgerRows rows) {
  const auto found = std::ranges::find_if(rows, [](const ui::state::LedgerRow& row) {
    return !row.is_bundled && !row.is_imported && has_ended_usefully(row);
  });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

void Baseline::take(const ui::state::LedgerRow& row) {
  folder_ = row.folder;
  // What another program's run was told is not known: the settings stay beside those of the run
  // before.
  if (!row.is_imported) knobs_.set_baseline(row.settings, row.ordinal, row.name);
  library_.set_baseline(row.folder);
}

void Baseline::choose_first(LedgerRows rows, const std::string& pinned_folder) {
  const auto* last = last_run(rows);
  const auto* pinned = row_of(rows, is_pinned_ ? folder_ : pinned_folder);
  const bool replaces = last != nullptr && !edited_;
  if (replaces) knobs_.begin_with(last->settings);
  is_pinned_ = pinned != nullptr;
  if (last != nullptr) take(*last);
  if (pinned != nullptr) take(*pinned);
  is_library_read_ = true;
  const auto changes = std::exchange(early_changes_, {});
  edited_ = edited_ || !changes.empty();
  if (!replaces) return;
  for (const auto& change : changes) change(knobs_);
}

void Baseline::follow_library(LedgerRows rows) {
  const auto* back = is_expected_back_ ? row_of(rows, left_) : nullptr;
  if (back != nullptr && !back->is_being_read) return pin(*back);
  const auto* row = row_of(rows, folder_);
  if (row == nullptr && leaving_.erase(folder_) > 0) return move_on(rows);
  if (row != nullptr && !row->is_being_read) take(*row);
}

void Baseline::begin_change(LedgerRows rows) {
  if (!is_library_read_) return;
  edited_ = true;
  if (is_pinned_) return;
  const auto* last = last_run(rows);
  if (last != nullptr && last->folder != folder_) take(*last);
}

void Baseline::keep_settings() {
  edited_ = true;
  early_changes_.clear();
}

void Baseline::pin(const ui::state::LedgerRow& row) {
  is_pinned_ = true;
  left_.clear();
  library_.pin_baseline(row.folder);
  take(row);
}

void Baseline::unpin(LedgerRows rows) {
  is_pinned_ = false;
  left_.clear();
  library_.pin_baseline("");
  if (const auto* last = last_run(rows); last != nullptr) take(*last);
}

void Baseline::leave(const std::vector<std::string>& folders) {
  leaving_.insert(folders.begin(), folders.end());
  if (std::ranges::find(folders, folder_) != folders.end()) is_expected_back_ = false;
}

void Baseline::move_on(LedgerRows rows) {
  if (std::exchange(is_pinned_, false)) {
    left_ = folder_;
    library_.pin_baseline("");
  }
  const auto* last = last_run(rows);
  if (last != nullptr) return take(*last);
  // As where the window opens without runs.
  folder_.clear();
  library_.set_baseline("");
  knobs_.compare_with_defaults();
}

}  // namespace shardlens::app::session
