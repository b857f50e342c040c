// Times of threads and processes, and quantiles of such times. Any thread.
#pragma once

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace shardlens::bench {

inline double seconds_on(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// Of the calling thread: what other programs do meanwhile does not count.
inline double thread_cpu_ms() { return 1e3 * seconds_on(CLOCK_THREAD_CPUTIME_ID); }

// NaN of nothing.
inline double quantile(std::vector<double> values, double share) {
  if (values.empty()) return std::nan("");
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

}  // namespace shardlens::bench
