#include "app/session/watch/shown_run.h"

#include <algorithm>
#include <utility>

namespace shardlens::app::session {

namespace fs = std::filesystem;

ShownRun::ShownRun(double replay_speed, RunLibrary& library, Notice& notice,
                   std::function<void()> on_publish)
    : library_(library),
      notice_(notice),
      replay_speed_(replay_speed),
      state_(std::make_shared<const WatchState>()),
      watcher_(std::move(on_publish)) {}

void ShownRun::open(const fs::path& run, bool plays) {
  is_first_opened_ = true;
  plays ? watcher_.start_replay(run, replay_speed_) : watcher_.show(run);
}

void ShownRun::open_first(LedgerRows rows) {
  if (std::exchange(is_first_opened_, true)) return;
  if (const auto* row = first_to_show(rows); row != nullptr) watcher_.show(row->folder);
}

void ShownRun::open_anew(const fs::path& run, double replay_speed) {
  if (replay_speed > 0) return watcher_.start_replay(run, replay_speed);
  // Another page's replay of it may be about to begin.
  is_on_screen(run) ? watcher_.stop_replay() : watcher_.show(run);
  watcher_.select_usual_step();
}

// And no other one is on its way; not played.
bool ShownRun::is_on_screen(const fs::path& run) const {
  const bool is_shown = state_->run == run && state_->view;
  return is_shown && asked_run() == run && !state_->replay.active;
}

void ShownRun::carry_out(const ui::state::ShowRun& command) {
  const fs::path run = command.folder;
  if (is_on_screen(run)) return;
  notice_.clear();
  is_start_awaited_ = false;
  watcher_.show(run);
}

void ShownRun::carry_out(const ui::state::StartReplay& command) {
  notice_.clear();
  const fs::path run = command.folder.empty() ? state_->run : fs::path(command.folder);
  if (!run.empty()) watcher_.start_replay(run, replay_speed_);
}

void ShownRun::set_replay_speed(double speed, bool stays) {
  if (stays) replay_speed_ = speed;
  watcher_.set_replay_speed(speed);
}

void ShownRun::leave(const std::vector<std::string>& folders, LedgerRows rows) {
  const auto goes = [&](const std::string& folder) {
    return std::ranges::find(folders, folder) != folders.end();
  };
  if (!goes(asked_run().string())) return;
  const auto shown = state_->run.string();  // may be another one still
  const auto next = std::ranges::find_if_not(rows, goes, &ui::state::LedgerRow::folder);
  const auto other = next == rows.end() ? std::string() : next->folder;
  watcher_.show(shown.empty() || goes(shown) ? other : shown);
}

// What the user looks at beside the jobs stays.
bool ShownRun::makes_way_for_job(const fs::path& before) const {
  const auto shown = asked_run();
  const bool follows = shown == before && !state_->replay.active;
  return is_start_awaited_ || shown.empty() || follows;
}

bool ShownRun::follow(LedgerRows rows) {
  auto now = watcher_.state();
  const bool is_new = now->version != state_->version;
  if (is_new) {
    const auto before = std::exchange(state_, std::move(now));
    if (!state_->problem.empty() && (state_->problem != before->problem ||
                                     state_->failed_openings != before->failed_openings)) {
      notice_.say_why_not(state_->problem);
    }
    if (state_->run != before->run) asked_label_ = {};
    tell_library(*before);
  }
  if (const auto* row = row_of(rows, state_->run.string()); row != nullptr && state_->view) {
    const RunLabel label{row->ordinal, row->name};
    if (std::exchange(asked_label_, label) != label) watcher_.set_label(state_->run, label);
  }
  return is_new;
}

void ShownRun::tell_library(const WatchState& before) {
  library_.set_shown(state_->run.string());
  library_.set_awaited(waits() ? state_->run.string() : "");
  const auto& view = state_->view;
  const bool has_ended = view && !state_->replay.active && !view->is_live &&
                         view->figures.info.status != trace::model::RunStatus::kRunning;
  if (has_ended && view != before.view) library_.set_figures(view);
}

}  // namespace shardlens::app::session
