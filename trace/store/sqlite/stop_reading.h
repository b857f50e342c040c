// Lets whoever waits for a reading thread end it: closing the window, SIGINT. Each belongs to the
// thread that made it.
#pragma once

#include <functional>
#include <mutex>

namespace shardlens::trace::store {

// While it lives, statements that this thread runs fail with kFailed once `is_wanted` has said
// true; it is asked about every hundred microseconds.
class StopReading {
 public:
  explicit StopReading(std::function<bool()> is_wanted);
  ~StopReading();
  StopReading(const StopReading&) = delete;
  StopReading& operator=(const StopReading&) = delete;

  // Of the thread that asks: false where it has none.
  static bool wanted();

  // While it lives, this thread reads on behalf of another: what ends that one ends this one.
  class OnBehalf {
   public:
    explicit OnBehalf(StopReading* of);
    ~OnBehalf();
    OnBehalf(const OnBehalf&) = delete;
    OnBehalf& operator=(const OnBehalf&) = delete;

   private:
    StopReading* own_;
  };
  // Of the thread that asks; null where it has none.
  static StopReading* innermost();

 private:
  std::mutex mutex_;
  std::function<bool()> is_wanted_;
  bool was_wanted_ = false;  // a signal is told once
  StopReading* outer_;
};

}  // namespace shardlens::trace::store
