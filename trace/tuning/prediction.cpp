#include "trace/tuning/prediction.h"

namespace shardlens::trace::tuning {

std::optional<std::size_t> chain_begin(const predict::DdpSchedule& schedule) {
  const auto& buckets = schedule.buckets;
  if (buckets.empty()) return std::nullopt;
  std::size_t first = buckets.size() - 1;
  while (first > 0 && buckets[first].start_ns > buckets[first].ready_ns) --first;
  return first;
}

}  // namespace shardlens::trace::tuning
