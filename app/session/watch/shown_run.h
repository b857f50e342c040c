// The run on screen: which one that is, how it is played, and whether a run that starts takes its
// place. Interface thread only; no call waits for a file.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/session/runs/ledger.h"
#include "app/session/runs/run_library.h"
#include "app/session/watch/run_watcher.h"
#include "app/session/worker/notice.h"
#include "ui/state/commands.h"

namespace shardlens::app::session {

class ShownRun {
 public:
  // `library` is told what is read here, which it need not read again; `notice`: why a run cannot
  // be shown. `replay_speed`: until the user chooses another.
  ShownRun(double replay_speed, RunLibrary& library, Notice& notice,
           std::function<void()> on_publish);

  void carry_out(const ui::state::ShowRun& command);
  void carry_out(const ui::state::StartReplay& command);
  void carry_out(const ui::state::SelectStep& command) { watcher_.select_step(command.step); }
  void carry_out(const ui::state::StopReplay&) { watcher_.stop_replay(); }
  void carry_out(const ui::state::SetReplayPlaying& asked) {
    watcher_.set_replay_playing(asked.playing);
  }
  void carry_out(const ui::state::SeekReplay& command) { watcher_.seek_replay(command.time_ns); }
  // Of this replay and, if it `stays`, of the next ones.
  void set_replay_speed(double speed, bool stays);
  double replay_speed() const { return replay_speed_; }

  void open(const std::filesystem::path& run, bool plays = false);
  // Unless open() was called: one of the library, once that has been read.
  void open_first(LedgerRows rows);
  // As where it is opened; played at that speed, 0: not.
  void open_anew(const std::filesystem::path& run, double replay_speed);
  // These runs are to be deleted: what is on screen, or on its way there, makes way first.
  void leave(const std::vector<std::string>& folders, LedgerRows rows);

  // The user asks, if `asks`, for the run that starts next to be shown at once.
  void await_start(bool asks) { is_start_awaited_ = is_start_awaited_ || asks; }
  bool stop_awaiting() { return std::exchange(is_start_awaited_, false); }  // whether it was
  // A job has started, `before` being the one before it; "": there was none.
  bool makes_way_for_job(const std::filesystem::path& before) const;

  // Takes what was published; true: something is new.
  bool follow(LedgerRows rows);
  const WatchState& now() const { return *state_; }  // as of then
  std::filesystem::path asked_run() const { return watcher_.asked_run(); }
  bool is_opening() const { return !asked_run().empty() && waits(); }
  RunWatcher& watcher() { return watcher_; }

 private:
  bool waits() const { return !state_->view && state_->problem.empty(); }
  bool is_on_screen(const std::filesystem::path& run) const;
  void tell_library(const WatchState& before);

  RunLibrary& library_;
  Notice& notice_;
  double replay_speed_;
  bool is_first_opened_ = false, is_start_awaited_ = false;
  std::shared_ptr<const WatchState> state_;
  RunLabel asked_label_;

  RunWatcher watcher_;  // last: stops first
};

}  // namespace shardlens::app::session
