#include "profiler/recorder/core_wait.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

namespace shardlens::profiler::recorder {

namespace {
constexpr std::int64_t kIntervalNs = 1'000'000'000;
}  // namespace

// https://docs.kernel.org/scheduler/sched-stats.html: time on a core, time ready but without one.
std::optional<std::int64_t> CoreWait::waited_so_far() const {
  const pid_t thread = thread_;
  if (thread == 0) return std::nullopt;
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/schedstat");
  std::int64_t ran = 0, waited = 0;
  if (!(file >> ran >> waited)) return std::nullopt;
  return waited;
}

std::int64_t CoreWait::look(std::int64_t now_ns, std::int64_t own_ns, bool at_once) {
  if (now_ns - looked_ns_ < kIntervalNs && now_ns >= looked_ns_ && !at_once) return sum_ns_;
  looked_ns_ = now_ns;
  const auto waited = waited_so_far();
  return waited ? add(*waited, own_ns) : sum_ns_;
}

// Whoever else is on the machine makes the thread wait, too, but not for longer than our threads
// computed.
std::int64_t CoreWait::add(std::int64_t waited_ns, std::int64_t own_ns) {
  const bool is_first = waited_ns_ < 0;
  const std::int64_t waited = waited_ns - std::exchange(waited_ns_, waited_ns);
  const std::int64_t own = own_ns - std::exchange(own_ns_, own_ns);
  if (!is_first) sum_ns_ += std::max<std::int64_t>(std::min(waited, own), 0);
  return sum_ns_;
}

}  // namespace shardlens::profiler::recorder
