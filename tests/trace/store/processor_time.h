// How long this thread has computed, for tests that bound it: not the clock on the wall, as the
// machine may have other things to do.
#pragma once

#include <cstdint>
#include <ctime>

namespace shardlens::trace::test {

inline std::int64_t computed_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

}  // namespace shardlens::trace::test
