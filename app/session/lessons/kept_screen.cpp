#include "app/session/lessons/kept_screen.h"

#include <algorithm>
#include <utility>

namespace shardlens::app::session {

namespace fs = std::filesystem;

KeptScreen::Shown KeptScreen::what_is_shown() const {
  const auto state = watcher_.state();
  Shown shown;
  shown.run = watcher_.asked_run();
  const bool is_as_before = brought_back_ && brought_back_->at_version == state->version;
  if (!state->view || state->run != shown.run || is_as_before) {  // it is being opened
    const bool comes_back = brought_back_ && brought_back_->shown.run == shown.run;
    return comes_back ? brought_back_->shown : shown;
  }
  shown.step = state->view->follows_live ? -1 : state->view->selected_step;
  shown.replay = state->replay;
  return shown;
}

void KeptScreen::keep() {
  if (kept_) return;
  Kept kept;
  kept.shown = what_is_shown();
  kept.compared = comparison_.folders();
  if (const auto view = comparison_.view()) kept.compared_step = view->step;
  kept.settings = knobs_.kept();
  kept_ = std::move(kept);
}

void KeptScreen::show(const Shown& shown) {
  if (shown.replay.active) {
    watcher_.start_replay(shown.run, shown.replay.speed);
    watcher_.seek_replay(shown.replay.now_ns);
    watcher_.set_replay_playing(shown.replay.playing);
  } else {
    watcher_.show(shown.run);
    watcher_.select_usual_step();
  }
  if (shown.step) watcher_.select_step(*shown.step);
}

bool KeptScreen::bring_back(LedgerRows rows, const fs::path& runs_dir) {
  if (!kept_) return false;
  const Kept kept = *std::exchange(kept_, std::nullopt);
  knobs_.go_back_to(kept.settings);
  if (kept.shown) {
    brought_back_ = BroughtBack{*kept.shown, watcher_.state()->version};
    show(*kept.shown);
  }
  const auto view = comparison_.view();
  const bool is_compared =
      kept.compared == comparison_.folders() && kept.compared_step == (view ? view->step : -1);
  if (!is_compared) {
    comparison_.choose({compared_runs(kept.compared, rows), kept.compared_step, runs_dir});
  }
  return kept.awaits_start;
}

void KeptScreen::keep_settings() {
  if (kept_) kept_->settings = knobs_.kept();
}

void KeptScreen::show_instead(const fs::path& run) {
  if (!kept_) return;
  kept_->shown.emplace();
  kept_->shown->run = run;
}

void KeptScreen::await_start() {
  if (kept_) kept_->awaits_start = true;
}

void KeptScreen::follow_job(const fs::path& before, const fs::path& job) {
  if (!kept_) return;
  const bool follows = kept_->shown && !before.empty() && kept_->shown->run == before &&
                       !kept_->shown->replay.active;
  if (std::exchange(kept_->awaits_start, false) || follows) show_instead(job);
}

void KeptScreen::leave(const std::vector<std::string>& folders) {
  if (!kept_) return;
  const auto goes = [&](const std::string& folder) {
    return std::ranges::find(folders, folder) != folders.end();
  };
  if (kept_->shown && goes(kept_->shown->run.string())) kept_->shown.reset();
  std::erase_if(kept_->compared, goes);
}

}  // namespace shardlens::app::session
