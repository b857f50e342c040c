#include "trace/predict/schedule/ddp_schedule.h"

#include <algorithm>
#include <cmath>

namespace shardlens::trace::predict {

namespace {

std::int64_t ready_on_all_ranks(const RecordedStep& step, std::size_t gradient, double slowdown) {
  std::int64_t latest = INT64_MIN;
  for (const RankStep& rank : step.ranks) {
    const std::int64_t first = rank.gradient_ready_ns.front();
    const auto since = static_cast<double>(rank.gradient_ready_ns[gradient] - first);
    latest = std::max<std::int64_t>(latest, first + std::llround(since * slowdown));
  }
  return latest;
}

}  // namespace

DdpSchedule schedule_ddp(const RecordedStep& step, const DdpPlan& plan) {
  DdpSchedule schedule;
  if (plan.buckets.empty()) return schedule;
  const auto ready_ns = [&](const PlannedBucket& bucket) {
    return ready_on_all_ranks(step, bucket.last_gradient, plan.slowdown);
  };
  const std::int64_t last_ns = ready_ns(plan.buckets.back());
  std::int64_t free_ns = INT64_MIN;
  for (const PlannedBucket& bucket : plan.buckets) {
    BucketTime time{.bytes = bucket.bytes, .tensors = bucket.tensors};
    time.ready_ns = plan.overlaps ? ready_ns(bucket) : last_ns;
    time.start_ns = std::max(time.ready_ns, free_ns);
    time.end_ns = free_ns = time.start_ns + bucket.transfer_ns;
    const std::int64_t works_until = std::min(time.start_ns + bucket.working_ns, last_ns);
    schedule.contended_ns += std::max<std::int64_t>(0, works_until - time.start_ns);
    schedule.buckets.push_back(time);
  }
  schedule.last_ready_ns = last_ns;
  schedule.backward_end_ns = std::max(last_ns, free_ns);
  return schedule;
}

}  // namespace shardlens::trace::predict
