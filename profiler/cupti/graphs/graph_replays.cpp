#include "profiler/cupti/graphs/graph_replays.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace shardlens::profiler::cupti {

void GraphReplays::add(const CapturedLaunch& launch, const KernelActivity& kernel) {
  waiting_.push_back({launch, kernel});
}

void GraphReplays::add(const LaunchActivity& call) {
  calls_[call.correlation] = call.start_ns;
  calls_come_ = true;
  if (calls_.size() > kMostCalls) calls_.erase(calls_.begin());
}

void GraphReplays::settle(bool is_last) {
  for (const Waiting& waiting : take_settled(is_last)) {
    ReplayedKernel replay{.launch = waiting.launch.launch,
                          .called_ns = waiting.kernel.start_ns,
                          .kernel = waiting.kernel};
    const auto call = calls_.find(waiting.kernel.correlation);
    calls_come_ = call != calls_.end();
    if (calls_come_) replay.called_ns = call->second;
    number(replay, waiting.launch.order);
    sink_.replayed_kernel(replay);
  }
  for (Waiting& waiting : waiting_) ++waiting.flushes;
}

bool GraphReplays::awaits_call(const Waiting& replay) const {
  return calls_come_ && replay.kernel.correlation > calls_.rbegin()->first &&
         replay.flushes < kMostFlushes;
}

std::vector<GraphReplays::Waiting> GraphReplays::take_settled(bool is_last) {
  // Those that have waited long enough, and younger ones of the same calls or earlier ones; in the
  // order of calls, so that the first whose call may still come holds up all behind it.
  std::uint32_t last_call = 0, first_awaited = UINT32_MAX;
  for (const Waiting& replay : waiting_) {
    const std::uint32_t call = replay.kernel.correlation;
    if (replay.flushes > 0 || is_last) last_call = std::max(last_call, call);
    if (!is_last && awaits_call(replay)) first_awaited = std::min(first_awaited, call);
  }
  const auto rest =
      std::stable_partition(waiting_.begin(), waiting_.end(), [&](const Waiting& replay) {
        return replay.kernel.correlation > last_call || replay.kernel.correlation >= first_awaited;
      });
  std::vector<Waiting> settled(std::make_move_iterator(rest),
                               std::make_move_iterator(waiting_.end()));
  waiting_.erase(rest, waiting_.end());
  std::ranges::sort(settled, {}, [](const Waiting& replay) {
    return std::tuple(replay.kernel.correlation, replay.kernel.start_ns);
  });
  return settled;
}

void GraphReplays::number(ReplayedKernel& replay, std::uint64_t order) {
  if (order == CapturedLaunch::kNoOrder) return;
  if (order == CapturedLaunch::kUnsure) return note_loss();
  Order& own = orders_[order];
  const KernelActivity& kernel = replay.kernel;
  if (kernel.correlation < own.last_call || kernel.start_ns < own.last_start_ns)
    own.is_in_order = false;
  own.last_call = kernel.correlation;
  own.last_start_ns = kernel.start_ns;
  if (launches_.size() >= kMostLaunches) note_loss();
  if (has_lost_ || !own.is_in_order) return;
  const auto [launch, is_new] = launches_.try_emplace(replay.launch);
  if (is_new) launch->second.place = own.launches++;
  replay.place = launch->second.place;
  replay.number = launch->second.replays++;
}

}  // namespace shardlens::profiler::cupti
