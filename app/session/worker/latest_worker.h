// A thread that answers the newest of its requests: one that comes while another is being answered
// replaces those that wait, and the one under way is told to give up. Any thread may ask.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "trace/store/sqlite/stop_reading.h"

namespace shardlens::app::session {

template <typename Request>
class LatestWorker {
 public:
  // Asked while a request is answered; false: nobody waits for the answer any more.
  using Wanted = std::function<bool()>;
  // What it throws is told to `failed`, where the answer is still wanted, else to standard error:
  // the window, and the job that it runs, go on.
  using Answer = std::function<void(const Request&, const Wanted&)>;
  using Failed = std::function<void(const std::string& why)>;

  explicit LatestWorker(Answer answer, Failed failed = {})
      : answer_(std::move(answer)),
        failed_(std::move(failed)),
        thread_([this](const std::stop_token& stop) { work(stop); }) {}

  void ask(Request request) {
    {
      const std::lock_guard lock(mutex_);
      waiting_ = std::move(request);
      ++asked_;
    }
    changed_.notify_all();
  }
  // Nothing is wanted any more.
  void cancel() {
    const std::lock_guard lock(mutex_);
    waiting_.reset();
    ++asked_;
  }
  bool is_idle() const {
    const std::lock_guard lock(mutex_);
    return !waiting_ && !busy_;
  }
  void wait_until_idle() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !waiting_ && !busy_; });
  }

 private:
  void work(const std::stop_token& stop) {
    const trace::store::StopReading closing([&stop] { return stop.stop_requested(); });
    while (true) {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return waiting_.has_value(); })) return;
      const Request request = *std::exchange(waiting_, std::nullopt);
      const std::uint64_t number = asked_;
      busy_ = true;
      lock.unlock();
      const auto is_wanted = [this, number, &stop] {
        if (stop.stop_requested()) return false;
        const std::lock_guard guard(mutex_);
        return asked_ == number;
      };
      try {
        answer_(request, is_wanted);
      } catch (const std::exception& error) {
        tell(error, is_wanted);
      }
      lock.lock();
      busy_ = false;
      lock.unlock();
      changed_.notify_all();
    }
  }
  void tell(const std::exception& error, const auto& is_wanted) const {
    try {
      if (failed_ && is_wanted()) return failed_(error.what());
    } catch (const std::exception&) {
      // There may be no memory for that, either.
    }
    std::fprintf(stderr, "error: %s\n", error.what());
  }

  Answer answer_;
  Failed failed_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable_any changed_;
  std::optional<Request> waiting_;
  std::uint64_t asked_ = 0;
  bool busy_ = false;

  std::jthread thread_;  // last: stops first
};

}  // namespace shardlens::app::session
