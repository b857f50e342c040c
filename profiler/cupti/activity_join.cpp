#include "profiler/cupti/activity_join.h"

#include "profiler/cupti/api/launch_calls.h"

namespace shardlens::profiler::cupti {

namespace {

template <typename T>
bool has_good_times(const T& activity) {
  return activity.start_ns > 0 && activity.end_ns >= activity.start_ns;
}

}  // namespace

void ActivityJoin::add(const Activity& activity, std::int64_t now_ns) {
  std::visit([&](const auto& value) { take(value, now_ns); }, activity);
}

void ActivityJoin::take(const KernelActivity& kernel, std::int64_t now_ns) {
  if (!has_good_times(kernel)) {
    if (kernel.graph_node != 0) note_loss();
    return sink_.bad_timestamps();
  }
  sink_.kernel(kernel);
  if (!is_communication(kernel.name)) return;
  // A graph's kernels share the correlation of its launch, which nobody marks.
  if (kernel.graph_node != 0) return take_replayed(kernel);
  const auto external = externals_.find(kernel.correlation);
  if (external == externals_.end()) {
    kernels_[kernel.correlation] = {kernel, now_ns};
    return;
  }
  sink_.launched_kernel(external->second.value, kernel);
  externals_.erase(external);
}

void ActivityJoin::take_replayed(const KernelActivity& kernel) {
  const CapturedLaunch launch =
      nodes_ == nullptr ? CapturedLaunch{} : nodes_->launch_of(kernel.graph_node);
  if (launch.launch != 0) replays_.add(launch, kernel);
}

void ActivityJoin::take(const CopyActivity& copy, std::int64_t) {
  if (!has_good_times(copy)) return sink_.bad_timestamps();
  sink_.copy(copy);
}

void ActivityJoin::take(const LaunchActivity& launch, std::int64_t) {
  if (!has_good_times(launch)) return sink_.bad_timestamps();
  sink_.launch(launch);
  if (nodes_ != nullptr && is_graph_launch(launch.name)) replays_.add(launch);
}

void ActivityJoin::take(const WaitActivity& wait, std::int64_t) {
  if (!has_good_times(wait)) return sink_.bad_timestamps();
  sink_.wait(wait);
}

void ActivityJoin::take(const ExternalActivity& external, std::int64_t now_ns) {
  if (external.kind != kLaunchCorrelation) return;
  launches_are_marked_ = true;
  const auto kernel = kernels_.find(external.correlation);
  if (kernel == kernels_.end()) {
    externals_[external.correlation] = {external.external_id, now_ns};
    return;
  }
  sink_.launched_kernel(external.external_id, kernel->second.value);
  kernels_.erase(kernel);
}

void ActivityJoin::expire(std::int64_t now_ns, bool all) {
  replays_.settle(all);
  const auto kernels = std::erase_if(
      kernels_, [&](const auto& entry) { return now_ns - entry.second.since_ns > kTimeLimitNs; });
  // A mark without a kernel is no loss: a launch into a graph that is captured runs none.
  const std::int64_t mark_limit_ns =
      externals_.size() > kMostOldMarks ? kTimeLimitNs : kMarkLimitNs;
  std::erase_if(externals_,
                [&](const auto& entry) { return now_ns - entry.second.since_ns > mark_limit_ns; });
  if (launches_are_marked_) sink_.unmatched(static_cast<std::int64_t>(kernels));
}

}  // namespace shardlens::profiler::cupti
