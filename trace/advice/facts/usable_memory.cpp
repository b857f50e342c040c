#include "trace/advice/facts/usable_memory.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace shardlens::trace::advice {

namespace {

using Device = std::pair<std::string_view, std::string_view>;  // its host, and which of it

Device device_of(const model::RankInfo& rank) { return {rank.host, rank.device}; }

std::map<Device, std::int64_t> ranks_by_device(const analysis::RunFigures& figures) {
  std::map<Device, std::int64_t> ranks;
  for (const auto& rank : figures.ranks) ++ranks[device_of(rank.info)];
  return ranks;
}

}  // namespace

std::int64_t usable_bytes(const analysis::RunFigures& figures, std::int64_t ranks) {
  const auto recorded = static_cast<std::int64_t>(figures.ranks.size());
  const auto by_device = ranks_by_device(figures);
  // How many of `ranks` have the device of a rank among them.
  const auto sharing = [&](const model::RankInfo& rank) {
    if (rank.device != "cpu" && !figures.info.shared_gpu) return std::int64_t{1};
    const std::int64_t now = by_device.at(device_of(rank));
    return std::max<std::int64_t>((now * ranks + recorded - 1) / recorded, 1);
  };
  std::optional<std::int64_t> least;
  for (const auto& rank : figures.ranks) {
    const model::MemorySample& peak = rank.peak;
    if (!rank.has_step_memory || peak.allocated_bytes() <= 0 || peak.device_total_bytes <= 0 ||
        !peak.knows(model::MemoryCategory::kOutside)) {
      continue;
    }
    const std::int64_t beyond = std::max<std::int64_t>(
        peak.reserved_bytes > 0 ? peak.reserved_bytes - peak.allocated_bytes() : 0, 0);
    const std::int64_t usable =
        peak.device_total_bytes / sharing(rank.info) -
        peak.bytes[static_cast<std::size_t>(model::MemoryCategory::kOutside)] - beyond;
    least = std::min(least.value_or(usable), usable);
  }
  return least ? std::max<std::int64_t>(*least, 1) : 0;
}

}  // namespace shardlens::trace::advice
