#include "trace/tuning/prediction.h"

#include <algorithm>

namespace shardlens::trace::tuning {

namespace {

std::optional<std::int64_t> highest(const std::vector<Prediction::Peak>& peaks,
                                    std::int64_t Prediction::Peak::*bytes) {
  if (peaks.empty()) return std::nullopt;
  return std::ranges::max(peaks, {}, bytes).*bytes;
}

}  // namespace

std::optional<std::int64_t> Prediction::recorded_peak_bytes() const {
  return highest(peaks, &Peak::recorded_bytes);
}

std::optional<std::int64_t> Prediction::peak_bytes() const { return highest(peaks, &Peak::bytes); }

std::optional<std::size_t> chain_begin(const predict::DdpSchedule& schedule) {
  const auto& buckets = schedule.buckets;
  if (buckets.empty()) return std::nullopt;
  std::size_t first = buckets.size() - 1;
  while (first > 0 && buckets[first].start_ns > buckets[first].ready_ns) --first;
  return first;
}

}  // namespace shardlens::trace::tuning
