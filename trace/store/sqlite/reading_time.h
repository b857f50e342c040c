// How long SQLite took for what is read from a file that is not trusted: by the clock on the wall
// while that is short, which costs nothing, then by what the thread computed, since a process that
// was stopped or got no core, and a disk that hardly answers, are not the file's fault. The
// thread that reads.
#pragma once

#include <cstdint>
#include <ctime>

#include "trace/base/saturated.h"

namespace shardlens::trace::store {

class ReadingTime {
 public:
  void begin() {
    runs_ = true;
    began_ns_ = now_ns();
  }
  void end() {
    spent_ns_ = spent_ns();
    runs_ = false;
  }
  // Within begin and end, or after: whether all there was took longer than that and what it may
  // take beside, or twice that at most. The first time it looks so, it counts again, and better.
  bool exceeds(std::int64_t limit_ns) {
    if (spent_ns() <= base::saturated_add(limit_ns, allowed_ns_)) return false;
    if (counts_computing_) return true;
    counts_computing_ = true;
    spent_ns_ = 0;
    if (runs_) began_ns_ = now_ns();
    return false;
  }
  // What was read takes an honest file so long.
  void allow(std::int64_t more_ns) { allowed_ns_ = base::saturated_add(allowed_ns_, more_ns); }

 private:
  // The coarse clock goes on every few milliseconds and is as cheap as a row is short; the other
  // one is a call of the kernel.
  std::int64_t now_ns() const {
    timespec time{};
    clock_gettime(counts_computing_ ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC_COARSE, &time);
    return time.tv_sec * 1'000'000'000 + time.tv_nsec;
  }
  std::int64_t spent_ns() const { return spent_ns_ + (runs_ ? now_ns() - began_ns_ : 0); }

  bool counts_computing_ = false;
  bool runs_ = false;
  std::int64_t began_ns_ = 0;
  std::int64_t spent_ns_ = 0;
  std::int64_t allowed_ns_ = 0;
};

}  // namespace shardlens::trace::store
