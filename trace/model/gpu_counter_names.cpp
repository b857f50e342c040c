#include "trace/model/gpu_counter_names.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "trace/base/text.h"

namespace shardlens::trace::model {

namespace {

// One word for what the user does about it: software and hardware slow down for the same heat.
constexpr std::array<std::pair<std::uint32_t, std::string_view>, 5> kThrottlingNames{{
    {kLimitPowerCap, "power cap"},
    {kLimitSyncBoost, "sync boost"},
    {kLimitSoftwareThermal | kLimitHardwareThermal, "thermal slowdown"},
    {kLimitPowerBrake, "power brake"},
    {kLimitHardwareSlowdown, "hardware slowdown"},
}};

}  // namespace

int gpu_counter_place(std::string_view name) {
  const auto found = std::ranges::find(kGpuCounters, name);
  return found == kGpuCounters.end() ? -1 : static_cast<int>(found - kGpuCounters.begin());
}

bool is_leading_gpu_counter(std::string_view name) {
  return name == kGpuUtilization || name == kGpuPower || name == kSmClock || name == kThrottled;
}

std::string throttling_text(std::uint32_t limits) {
  std::vector<std::string_view> names;
  for (const auto& [bits, name] : kThrottlingNames) {
    if ((limits & bits) != 0) names.push_back(name);
  }
  return base::joined(names);
}

}  // namespace shardlens::trace::model
