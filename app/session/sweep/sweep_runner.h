// Runs a sweep, each of its runs as a job of the queue, on a thread of its own. All public
// functions may be called from any thread and return at once.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "app/search/search_loop.h"
#include "app/session/jobs/job_queue.h"
#include "app/sweep/sweep.h"

namespace shardlens::app::session {

struct SweepRunState {
  std::string name;  // of the sweep that runs; "": none
  bool is_stopping = false;
  std::optional<std::size_t> point;  // that is run now
  std::string ended, problem;        // the last one that ended, and why before its time; "": it did
  std::uint64_t version = 0;
};

class SweepRunner {
 public:
  // `queue` outlives it. `notice`: why a sweep does not start, or how it ended.
  SweepRunner(std::filesystem::path runs_dir, JobQueue& queue, Notice& notice,
              std::function<void()> on_change);
  // Leaves the run at hand to the queue; the sweep goes on when it is resumed.
  ~SweepRunner() = default;
  SweepRunner(const SweepRunner&) = delete;
  SweepRunner& operator=(const SweepRunner&) = delete;

  // Begins one, or goes on with it; its library is this one's. While one runs it is refused.
  void start(sweep::SweepRequest request);
  // The run at hand is stopped and does not count.
  void stop();

  SweepRunState state() const;

 private:
  void work(const std::stop_token& stop);
  trace::base::Result<bool> run(const std::stop_token& stop, sweep::SweepRequest request);
  trace::base::Result<bool> search_in(const std::stop_token& stop, sweep::Sweep& grid);
  bool is_asked_to_stop(const std::stop_token& closing) const;
  trace::base::Result<launch::JobStatus> run_in_queue(const std::stop_token& stop, sweep::Slot slot,
                                                      const launch::JobRequest& request);
  void conclude(const std::string& name, const trace::base::Result<bool>& end);
  template <typename Change>
  void change_state(Change change);

  const std::filesystem::path runs_dir_;
  JobQueue& queue_;
  Notice& notice_;
  const std::function<void()> on_change_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable_any wake_;
  std::optional<sweep::SweepRequest> asked_;
  std::string run_name_;  // of the run that was given to the queue
  SweepRunState state_;
  std::string verdict_;  // of the one that ended

  std::jthread thread_;  // last: stops first
};

}  // namespace shardlens::app::session
