// Time of a thread, and quantiles of such times. Any thread.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace shardlens::bench {

// Of the calling thread: what other programs do meanwhile does not count.
inline double thread_cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// NaN of nothing.
inline double quantile(std::vector<double> values, double share) {
  if (values.empty()) return std::nan("");
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

}  // namespace shardlens::bench
