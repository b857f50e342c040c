// The job that this window runs, and what is known of it whichever run is on screen. Interface
// thread only; no call waits.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/session/jobs/job_queue.h"
#include "app/session/watch/run_watcher.h"

namespace shardlens::app::session {

class CurrentJob {
 public:
  CurrentJob(StartJob start, Notice& notice, const std::function<void()>& on_change);

  JobQueue& queue() { return queue_; }
  const JobQueue& queue() const { return queue_; }

  struct News {
    bool is_any = false, has_started = false, has_ended = false;
    bool is_idle = false;  // by now
  };
  News follow();

  bool is_idle() const { return queue_.state().phase == ui::state::JobPhase::kNone; }  // by now
  // Of the job that runs, or of the last one; "": there was none.
  const std::filesystem::path& folder() const { return state_.folder; }
  // "": nothing is being recorded.
  std::filesystem::path recorded_folder() const;
  // Its figures if there are others than the last time.
  std::shared_ptr<const ui::state::RunView> take_new_view(const WatchState& on_screen);
  // What it and those that wait are called.
  std::vector<std::string> names() const;
  ui::state::JobState state(const WatchState& on_screen);

 private:
  std::shared_ptr<const ui::state::RunView> view(const WatchState& on_screen);

  QueueState state_;
  std::uint64_t seen_watch_ = 0;
  std::shared_ptr<const ui::state::RunView> taken_view_;

  RunWatcher watcher_;  // of its run while another one is on screen
  JobQueue queue_;
};

}  // namespace shardlens::app::session
