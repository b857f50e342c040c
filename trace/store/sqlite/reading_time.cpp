#include "trace/store/sqlite/reading_time.h"

#include <ctime>

namespace shardlens::trace::store {

// The coarse clock goes on every few milliseconds and is as cheap as a row is short; the other one
// is a call of the kernel.
std::int64_t ReadingTime::now_ns() const {
  timespec time{};
  clock_gettime(counts_computing_ ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC_COARSE, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

void ReadingTime::begin() {
  runs_ = true;
  began_ns_ = now_ns();
}

void ReadingTime::end() {
  spent_ns_ = spent_ns();
  runs_ = false;
}

bool ReadingTime::exceeds(std::int64_t limit_ns) {
  if (spent_ns() <= base::saturated_add(limit_ns, allowed_ns_)) return false;
  if (counts_computing_) return true;
  counts_computing_ = true;
  spent_ns_ = 0;
  if (runs_) began_ns_ = now_ns();
  return false;
}

}  // namespace shardlens::trace::store
