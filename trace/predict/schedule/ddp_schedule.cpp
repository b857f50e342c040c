#include "trace/predict/schedule/ddp_schedule.h"

#include <algorithm>
#include <cmath>

namespace shardlens::trace::predict {

DdpSchedule schedule_ddp(const RecordedStep& step, std::span<const std::int64_t> gradient_bytes,
                         const DdpPlan& plan) {
  DdpSchedule schedule;
  const auto ready = [&](std::size_t gradient) {
    std::int64_t latest = INT64_MIN;
    for (const RankStep& rank : step.ranks) {
      latest = std::max(latest, rank.gradient_ready_ns[gradient]);
    }
    return latest;
  };
  const std::int64_t last_ns = gradient_bytes.empty() ? 0 : ready(gradient_bytes.size() - 1);
  std::int64_t free_ns = INT64_MIN;
  for (const auto& bucket : plan_buckets(gradient_bytes, plan.caps)) {
    BucketTime time;
    for (const std::size_t gradient : bucket) time.bytes += gradient_bytes[gradient];
    time.tensors = bucket.size();
    time.ready_ns = plan.overlaps ? ready(bucket.back()) : last_ns;
    time.start_ns = std::max(time.ready_ns, free_ns);
    time.end_ns = time.start_ns + std::llround(plan.transfer_ns(static_cast<double>(time.bytes)));
    free_ns = time.end_ns;
    schedule.overlapped_ns +=
        std::max<std::int64_t>(0, std::min(time.end_ns, last_ns) - time.start_ns);
    schedule.buckets.push_back(time);
  }
  schedule.backward_end_ns = std::max(last_ns, free_ns);
  return schedule;
}

}  // namespace shardlens::trace::predict
