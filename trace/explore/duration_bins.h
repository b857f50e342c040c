// The bins of a DurationHistogram: whole nanoseconds from which on a duration belongs to the next
// one. Any thread.
#pragma once

#include <array>
#include <cstdint>

#include "trace/timeline/range_figures.h"

namespace shardlens::trace {

class DurationBins {
 public:
  DurationBins() = default;
  // Of equal ratio from the shortest, or 1 ns, to the longest. All alike: the first bin has them.
  DurationBins(std::int64_t least_ns, std::int64_t most_ns);

  double first_ns() const { return first_ns_; }
  double last_ns() const { return last_ns_; }
  // Durations of bin i are below end_ns(i), except the last one's.
  std::int64_t end_ns(int bin) const { return ends_[static_cast<std::size_t>(bin)]; }
  int bin_of(std::int64_t duration_ns) const;

 private:
  double first_ns_ = 0, last_ns_ = 0;
  std::array<std::int64_t, kHistogramBins> ends_{};
};

}  // namespace shardlens::trace
