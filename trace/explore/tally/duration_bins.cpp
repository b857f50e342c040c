#include "trace/explore/tally/duration_bins.h"

#include <algorithm>
#include <cmath>

namespace shardlens::trace::explore {

DurationBins::DurationBins(std::int64_t least_ns, std::int64_t most_ns) {
  first_ns_ = static_cast<double>(std::max<std::int64_t>(1, least_ns));
  last_ns_ = std::max(first_ns_, static_cast<double>(most_ns));
  ends_.fill(INT64_MAX);
  if (last_ns_ == first_ns_) return;
  const double ratio = std::log(last_ns_ / first_ns_);
  for (std::size_t bin = 0; bin + 1 < ends_.size(); ++bin) {
    const double end =
        first_ns_ * std::exp(ratio * static_cast<double>(bin + 1) / timeline::kHistogramBins);
    // Above that a double is too coarse for nanoseconds, and rounding up may overflow the integer.
    ends_[bin] = end < 0x1p62 ? static_cast<std::int64_t>(std::ceil(end)) : INT64_MAX;
  }
}

int DurationBins::bin_of(std::int64_t duration_ns) const {
  const auto end = std::ranges::upper_bound(ends_.begin(), ends_.end() - 1, duration_ns);
  return static_cast<int>(end - ends_.begin());
}

}  // namespace shardlens::trace::explore
