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

// Of all ranks on a device together.
struct DeviceUse {
  std::int64_t ranks = 0;
  std::int64_t used_bytes = 0;  // of the whole device, with whatever else is there
  std::int64_t allocated_bytes = 0;
};

std::map<Device, DeviceUse> use_by_device(const analysis::RunFigures& figures) {
  std::map<Device, DeviceUse> devices;
  for (const auto& rank : figures.ranks) {
    DeviceUse& use = devices[device_of(rank.info)];
    ++use.ranks;
    // What a peak's sample tells of the device was asked before it.
    use.used_bytes =
        std::max({use.used_bytes, rank.peak.device_used_bytes, rank.now.device_used_bytes});
    use.allocated_bytes += rank.peak.allocated_bytes();
  }
  return devices;
}

// What a rank alone on its device, or a process, holds beyond its tensors; none: not known.
std::optional<std::int64_t> own_beyond_tensors(const model::MemorySample& peak) {
  if (!peak.knows(model::MemoryCategory::kOutside)) return std::nullopt;
  const std::int64_t cached =
      peak.reserved_bytes > 0 ? peak.reserved_bytes - peak.allocated_bytes() : 0;
  return peak.bytes[static_cast<std::size_t>(model::MemoryCategory::kOutside)] +
         std::max<std::int64_t>(cached, 0);
}

// The same of a rank of those on one GPU, of which nobody knows what else is whose.
std::optional<std::int64_t> shared_beyond_tensors(const DeviceUse& gpu) {
  if (gpu.used_bytes <= 0) return std::nullopt;
  return std::max<std::int64_t>(gpu.used_bytes - gpu.allocated_bytes, 0) / gpu.ranks;
}

}  // namespace

std::int64_t usable_bytes(const analysis::RunFigures& figures, std::int64_t ranks) {
  const auto recorded = static_cast<std::int64_t>(figures.ranks.size());
  const auto devices = use_by_device(figures);
  std::optional<std::int64_t> least;
  for (const auto& rank : figures.ranks) {
    const model::MemorySample& peak = rank.peak;
    const bool is_gpu = rank.info.device != "cpu";
    const bool shares_gpu = is_gpu && figures.info.shared_gpu;
    const DeviceUse& device = devices.at(device_of(rank.info));
    const auto beyond = shares_gpu ? shared_beyond_tensors(device) : own_beyond_tensors(peak);
    if (!rank.has_step_memory || peak.allocated_bytes() <= 0 || peak.device_total_bytes <= 0 ||
        !beyond) {
      continue;
    }
    // How many of `ranks` have this rank's device among them.
    const std::int64_t sharing =
        is_gpu && !shares_gpu
            ? 1
            : std::max<std::int64_t>((device.ranks * ranks + recorded - 1) / recorded, 1);
    const std::int64_t usable = peak.device_total_bytes / sharing - *beyond;
    least = std::min(least.value_or(usable), usable);
  }
  return least ? std::max<std::int64_t>(*least, 1) : 0;
}

}  // namespace shardlens::trace::advice
