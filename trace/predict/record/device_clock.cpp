#include "trace/predict/record/device_clock.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace shardlens::trace::predict {

namespace {

// Recordings tell nearly all in order, one thread's after another's: runs are merged, not sorted.
template <typename Value, typename Key>
void put_in_order(std::vector<Value>& values, Key key) {
  if (!std::ranges::is_sorted(values, {}, key)) std::ranges::stable_sort(values, {}, key);
}

}  // namespace

DeviceTimes DeviceClock::times_of(int lane) const {
  std::vector<Kernel> kernels;
  std::ranges::copy_if(kernels_, std::back_inserter(kernels),
                       [&](const Kernel& kernel) { return kernel.lane == lane; });
  put_in_order(kernels, &Kernel::correlation);
  auto launches = launches_;
  put_in_order(launches, &Launch::correlation);

  DeviceTimes times;
  auto kernel = kernels.begin();
  for (const auto& [correlation, host_ns] : launches) {
    while (kernel != kernels.end() && kernel->correlation < correlation) ++kernel;
    // Of a graph, all at once: it ends with the last of them.
    std::optional<std::int64_t> end_ns;
    for (auto each = kernel; each != kernels.end() && each->correlation == correlation; ++each) {
      end_ns = std::max(end_ns.value_or(INT64_MIN), each->end_ns);
    }
    if (end_ns) times.launches_.push_back({host_ns, *end_ns});
  }
  put_in_order(times.launches_, &DeviceTimes::Launch::host_ns);
  std::int64_t latest_ns = INT64_MIN;
  for (auto& launch : times.launches_) {
    launch.done_ns = latest_ns = std::max(latest_ns, launch.done_ns);
  }
  return times;
}

std::int64_t DeviceTimes::at(std::int64_t host_ns) const {
  const auto next = std::ranges::upper_bound(launches_, host_ns, {}, &Launch::host_ns);
  if (next == launches_.begin()) return host_ns;
  return std::max(host_ns, std::prev(next)->done_ns);
}

}  // namespace shardlens::trace::predict
