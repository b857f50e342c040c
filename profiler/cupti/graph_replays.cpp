#include "profiler/cupti/graph_replays.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace shardlens::profiler {

void GraphReplays::add(std::uint64_t launch, const KernelActivity& kernel) {
  waiting_.push_back({launch, kernel});
}

void GraphReplays::add(const LaunchActivity& call) {
  calls_[call.correlation] = call.start_ns;
  if (calls_.size() > kMostCalls) calls_.erase(calls_.begin());
}

void GraphReplays::settle(bool is_last) {
  for (const Waiting& replay : take_settled(is_last)) {
    const auto call = calls_.find(replay.kernel.correlation);
    sink_.replayed_kernel(
        {.launch = replay.launch,
         .number = number_of(replay),
         .called_ns = call == calls_.end() ? replay.kernel.start_ns : call->second,
         .kernel = replay.kernel});
  }
  for (Waiting& replay : waiting_) replay.is_old = true;
}

std::vector<GraphReplays::Waiting> GraphReplays::take_settled(bool is_last) {
  // Together with younger ones of earlier calls.
  std::uint32_t last_call = 0;
  for (const Waiting& replay : waiting_)
    if (replay.is_old || is_last) last_call = std::max(last_call, replay.kernel.correlation);
  const auto rest = std::stable_partition(
      waiting_.begin(), waiting_.end(),
      [last_call](const Waiting& replay) { return replay.kernel.correlation > last_call; });
  std::vector<Waiting> settled(std::make_move_iterator(rest),
                               std::make_move_iterator(waiting_.end()));
  waiting_.erase(rest, waiting_.end());
  std::ranges::sort(settled, {}, [](const Waiting& replay) {
    return std::tuple(replay.kernel.correlation, replay.kernel.start_ns);
  });
  return settled;
}

std::int64_t GraphReplays::number_of(const Waiting& replay) {
  Counted& counted = counted_[replay.launch];
  const auto& [stream, start_ns, end_ns, correlation, node, name] = replay.kernel;
  if (correlation < counted.last_call || start_ns < counted.last_start_ns) counted.is_sure = false;
  counted.last_call = std::max(counted.last_call, correlation);
  counted.last_start_ns = std::max(counted.last_start_ns, start_ns);
  if (has_lost_ || !counted.is_sure) return -1;
  return counted.replays++;
}

}  // namespace shardlens::profiler
