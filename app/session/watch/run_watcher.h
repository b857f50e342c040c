// Watches one run on a thread of its own, live, finished or in replay, and publishes what panels
// show. All public functions may be called from any thread and never wait for the file.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "app/session/watch/run_follower.h"
#include "ui/state/snapshot.h"

namespace shardlens::app::session {

// Which moment of a recorded run is on screen while it is replayed. Pure: the caller passes the
// wall time, so tests need none. Not thread-safe; one owner.
class ReplayClock {
 public:
  // Covers [start_ns, end_ns] of trace time, standing at its start, paused.
  void load(std::int64_t start_ns, std::int64_t end_ns);

  // Playing from the end begins again at the start.
  void play(std::int64_t wall_ns);
  void pause(std::int64_t wall_ns);
  // Times real time, clamped to 0.01 … 100; a value that is not a number is ignored.
  void set_speed(double speed, std::int64_t wall_ns);
  // Clamped to the run; keeps playing or pausing.
  void seek(std::int64_t trace_ns, std::int64_t wall_ns);

  std::int64_t now_ns(std::int64_t wall_ns) const;
  bool at_end(std::int64_t wall_ns) const { return now_ns(wall_ns) >= end_ns_; }
  // False once the end is reached.
  bool playing(std::int64_t wall_ns) const { return playing_ && !at_end(wall_ns); }

  std::int64_t start_ns() const { return start_ns_; }
  std::int64_t end_ns() const { return end_ns_; }
  double speed() const { return speed_; }

 private:
  void anchor(std::int64_t wall_ns);

  std::int64_t start_ns_ = 0;
  std::int64_t end_ns_ = 0;
  std::int64_t position_ns_ = 0;  // at anchor_wall_ns_
  std::int64_t anchor_wall_ns_ = 0;
  double speed_ = 1;
  bool playing_ = false;
};

// Published as a whole; never changed afterwards.
struct WatchState {
  std::filesystem::path run;  // as asked for, or the one before where that cannot be opened
  std::shared_ptr<const ui::state::RunView> view;  // null: not read yet, or `problem` says why
  ui::state::ReplayState replay;
  std::string problem;
  std::uint64_t failed_openings = 0;  // of runs, so far: the same one may be tried again
  std::uint64_t replacements = 0;     // of what was shown by another run in its place, so far
  std::uint64_t version = 0;
};

class RunWatcher {
 public:
  // `on_publish` is called on the worker after each publication; it must be quick.
  explicit RunWatcher(std::function<void()> on_publish);
  ~RunWatcher() = default;  // stops and joins
  RunWatcher(const RunWatcher&) = delete;
  RunWatcher& operator=(const RunWatcher&) = delete;

  // Shows another run; what is shown stays where that cannot be opened. A live one follows its
  // latest step, a finished one stands at a typical one.
  void show(const std::filesystem::path& run);
  // Whether another run has taken the place of the one that is shown.
  void look_again();
  // The run that this program itself records at the moment, "" for none: it surely lives.
  void set_own_job(const std::filesystem::path& run);
  void select_step(std::int64_t step) {  // -1: follow the latest
    ask([&](Requests& requests) { requests.step = step; });
  }
  void select_usual_step();  // as where the run was just opened
  // Once that is known, and whenever it changes; goes into the view.
  void set_label(const std::filesystem::path& run, const RunLabel& label) {
    ask([&](Requests& requests) { requests.label = {run, label}; });
  }

  // From where its ranks begin to do something on; what they started with is there at once.
  void start_replay(const std::filesystem::path& run, double speed);
  void stop_replay() {
    ask([](Requests& requests) { requests.replay = ReplayWish::kStop; });
  }
  void set_replay_playing(bool playing) {
    ask([&](Requests& requests) { requests.playing = playing; });
  }
  void set_replay_speed(double speed) {
    ask([&](Requests& requests) { requests.speed = speed; });
  }
  void seek_replay(std::int64_t time_ns) {
    ask([&](Requests& requests) { requests.seek_ns = time_ns; });
  }

  std::shared_ptr<const WatchState> state() const;
  // The run that show() or start_replay() asked for last; state() is of it once it was read.
  std::filesystem::path asked_run() const;

 private:
  enum class ReplayWish : std::uint8_t { kNone, kStart, kStop };
  struct Requests {
    std::optional<std::filesystem::path> show;
    std::optional<std::int64_t> step;
    bool usual_step = false;
    std::optional<std::pair<std::filesystem::path, RunLabel>> label;
    ReplayWish replay = ReplayWish::kNone;
    std::optional<double> speed;
    std::optional<bool> playing;
    std::optional<std::int64_t> seek_ns;
    bool looks = false;  // once, which takes nothing where all is as before
    bool any = false;    // of the others
  };

  template <typename Change>
  void ask(Change change) {
    {
      const std::lock_guard lock(mutex_);
      change(requests_);
      requests_.any = true;
    }
    wake_.notify_one();
  }
  void work(const std::stop_token& stop);
  bool carry_out(Requests requests);
  bool open_run(const std::filesystem::path& run);  // false: what is shown stays
  void take(const std::filesystem::path& run, std::unique_ptr<RunFollower> follower);
  trace::base::Result<void> open_replacement();
  bool could_not_read(const trace::base::Error& why);
  bool keep_what_is_shown(const std::filesystem::path& not_opened, const trace::base::Error& why);
  void carry_out_replay(const Requests& requests);
  void leave_replay();
  void select_first_step();
  bool follow_file(std::int64_t now_ns);
  void publish(bool anything_read, std::int64_t now_ns);
  void give_up(const std::string& why);
  std::chrono::nanoseconds pause_length() const;
  bool is_own_job() const;

  // The worker's own.
  std::unique_ptr<RunFollower> follower_;
  WatchState draft_;  // as it is published next
  RunLabel label_;
  bool could_not_read_ = false;  // that is the problem
  ReplayClock clock_;
  bool replaying_ = false;
  std::int64_t ended_at_ns_ = 0;  // when the run was first seen to have ended
  std::chrono::steady_clock::time_point next_read_{};
  bool is_kept_ = true;  // what was read of it, or nothing is to be
  std::chrono::nanoseconds last_cost_{0};

  std::function<void()> on_publish_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable_any wake_;
  Requests requests_;
  std::filesystem::path own_job_, asked_run_;
  std::shared_ptr<const WatchState> state_;

  std::jthread thread_;  // last: stops first
};

}  // namespace shardlens::app::session
