// The job that runs and those that wait for it, started, stopped and watched for hangs on a thread
// of its own. All public functions may be called from any thread and return at once.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/launch/hang_watch.h"
#include "app/launch/job_session.h"
#include "app/session/worker/notice.h"
#include "trace/base/result.h"
#include "ui/state/snapshot.h"

namespace shardlens::app::session {

// `on_news`: called on any thread when the job's status has changed.
using StartJob = std::function<trace::base::Result<std::unique_ptr<launch::RunningJob>>(
    const launch::JobRequest&, std::function<void()> on_news)>;

// What came of a job. Error: it did not start, as it was refused, cancelled, or the queue went.
using JobEnd = std::function<void(const trace::base::Result<launch::JobStatus>&)>;

// Starts real ranks.
trace::base::Result<std::unique_ptr<launch::RunningJob>> start_job_session(
    const launch::JobRequest& request, std::function<void()> on_news);

struct QueueState {
  ui::state::JobPhase phase = ui::state::JobPhase::kNone;
  std::string run_name;
  std::filesystem::path folder;                     // of the job that runs, or of the last one
  bool saves_checkpoints = false;                   // likewise
  std::vector<ui::state::JobState::Queued> queued;  // in the order in which they start
  std::uint64_t started = 0, ended = 0;             // jobs so far
  std::uint64_t version = 0;
};

class JobQueue {
 public:
  // `notice`: why a job did not start, or ended otherwise than wanted. `farewell`: for ranks to
  // flush when the program ends.
  JobQueue(StartJob start, Notice& notice, std::function<void()> on_change,
           std::chrono::milliseconds farewell = std::chrono::seconds(3));
  // Stops the job and waits for it to leave in order, `farewell` at most, then kills it. One that
  // saves checkpoints has as long as what is due behind its step takes, unless a rank hangs.
  ~JobQueue() = default;
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  // Starts at once, or after the job that runs and those that wait already; with `stop_current`
  // before those, and the job that runs is asked to stop.
  // `on_end`: called once, on any thread.
  void start(
      launch::JobRequest request, bool stop_current,
      JobEnd on_end = [](const trace::base::Result<launch::JobStatus>&) {});
  // Asks the job to leave after its step; asked again it is no other wish.
  void stop();
  // The job of that name and no other: stopped, or cancelled while it waits.
  void stop_run(const std::string& name);
  // Ends the ranks of a job that is being stopped at once.
  void kill_now();
  void cancel_queued(std::uint64_t id);  // 0: all that wait
  void move_queued(std::uint64_t id, int places);

  QueueState state() const;

 private:
  void work(const std::stop_token& stop);
  void hear_news();
  void start_next();
  void look_after_job();
  void look_after_job_safely();
  void watch_for_hangs(const launch::JobStatus& status);
  void finish(const launch::JobStatus& status);
  void leave_in_order();
  void await_end();
  void take_next(QueueState& state);
  void want_stop(QueueState& state);
  template <typename IsMeant>
  void cancel_if(IsMeant is_meant);
  template <typename Change>
  void change_state(Change change);

  StartJob start_;
  Notice& notice_;
  std::function<void()> on_change_;
  const std::chrono::milliseconds farewell_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable_any wake_;
  struct Job {
    std::uint64_t id = 0;
    launch::JobRequest request;
    JobEnd on_end;
  };
  std::optional<Job> starting_;
  std::deque<Job> waiting_;
  std::uint64_t last_id_ = 0;
  bool stop_wanted_ = false, kill_wanted_ = false;
  bool has_news_ = false;  // of the job
  QueueState state_;

  std::unique_ptr<launch::RunningJob> job_;  // the worker's own
  JobEnd on_end_;
  std::optional<launch::HangMonitor> monitor_;  // of that job
  bool stop_sent_ = false;

  std::jthread thread_;  // last: stops first
};

}  // namespace shardlens::app::session
