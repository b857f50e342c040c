#include "trace/predict/schedule/device_clock.h"

#include <algorithm>

namespace shardlens::trace::predict {

void DeviceClock::add_kernel(std::uint64_t correlation, int lane, std::int64_t end_ns) {
  if (correlation == 0) return;
  auto [known, is_new] = ends_.try_emplace(correlation, End{end_ns, lane});
  // Of a graph, all at once: it ends with the last of them.
  if (!is_new && end_ns > known->second.ns) known->second = {end_ns, lane};
}

void DeviceClock::sort(int lane) {
  if (!is_used()) return;
  std::ranges::sort(launches_);
  done_.clear();
  std::int64_t latest_ns = INT64_MIN;
  for (const auto& [host_ns, correlation] : launches_) {
    const auto kernel = ends_.find(correlation);
    if (kernel != ends_.end() && kernel->second.lane == lane) {
      latest_ns = std::max(latest_ns, kernel->second.ns);
    }
    done_.push_back(latest_ns);
  }
}

std::int64_t DeviceClock::at(std::int64_t host_ns) const {
  const auto next =
      std::ranges::upper_bound(launches_, host_ns, {}, [](const auto& each) { return each.first; });
  if (next == launches_.begin() || done_.empty()) return host_ns;
  return std::max(host_ns, done_[static_cast<std::size_t>(next - launches_.begin()) - 1]);
}

}  // namespace shardlens::trace::predict
