#include "trace/advice/facts/usable_memory.h"

#include <algorithm>

namespace shardlens::trace::advice {

namespace {

// How many of `ranks` have the device of `rank` among them.
std::int64_t sharing(const analysis::RunFigures& figures, const model::RankInfo& rank,
                     std::int64_t ranks) {
  if (rank.device != "cpu" && !figures.info.shared_gpu) return 1;
  const auto now = std::ranges::count_if(
      figures.ranks, [&](const auto& other) { return other.info.is_on_device_of(rank); });
  const auto recorded = static_cast<std::int64_t>(figures.ranks.size());
  return std::max<std::int64_t>((now * ranks + recorded - 1) / recorded, 1);
}

}  // namespace

std::int64_t usable_bytes(const analysis::RunFigures& figures, std::int64_t ranks) {
  std::int64_t least = 0;
  for (const auto& rank : figures.ranks) {
    const model::MemorySample& peak = rank.peak;
    if (!rank.has_step_memory || peak.allocated_bytes() <= 0 || peak.device_total_bytes <= 0 ||
        !peak.knows(model::MemoryCategory::kOutside)) {
      continue;
    }
    const std::int64_t beyond = std::max<std::int64_t>(
        peak.reserved_bytes > 0 ? peak.reserved_bytes - peak.allocated_bytes() : 0, 0);
    const std::int64_t usable =
        peak.device_total_bytes / sharing(figures, rank.info, ranks) -
        peak.bytes[static_cast<std::size_t>(model::MemoryCategory::kOutside)] - beyond;
    if (usable > 0) least = least == 0 ? usable : std::min(least, usable);
  }
  return least;
}

}  // namespace shardlens::trace::advice
