#include "profiler/cupti/graphs/graph_nodes.h"

#include <utility>

namespace shardlens::profiler::cupti {

void GraphNodes::created(std::uint64_t node, const CapturedLaunch& launch) {
  const std::lock_guard lock(mutex_);
  set(node, launch);
}

void GraphNodes::cloned(std::uint64_t node, std::uint64_t original) {
  const std::lock_guard lock(mutex_);
  const auto found = launches_.find(original);
  if (found != launches_.end()) {
    set(node, found->second);
  } else {
    launches_.erase(node);  // CUPTI gives no id twice, but if it did
  }
}

void GraphNodes::forget_all() {
  const std::lock_guard lock(mutex_);
  forgotten_.by_change |= !launches_.empty();
  launches_.clear();
  oldest_first_.clear();
}

CapturedLaunch GraphNodes::launch_of(std::uint64_t node) const {
  const std::lock_guard lock(mutex_);
  const auto found = launches_.find(node);
  return found == launches_.end() ? CapturedLaunch{} : found->second;
}

GraphNodes::Forgotten GraphNodes::take_forgotten() {
  const std::lock_guard lock(mutex_);
  return std::exchange(forgotten_, {});
}

void GraphNodes::set(std::uint64_t node, const CapturedLaunch& launch) {
  if (launches_.insert_or_assign(node, launch).second) oldest_first_.push_back(node);
  if (oldest_first_.size() <= kMostNodes) return;
  forgotten_.by_number |= launches_.erase(oldest_first_.front()) > 0;
  oldest_first_.pop_front();
}

}  // namespace shardlens::profiler::cupti
