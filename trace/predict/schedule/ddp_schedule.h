// When DDP's buckets are reduced, and with that when backward ends, for another bucket plan or
// another link than a step was recorded with. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "trace/predict/schedule/bucket_plan.h"
#include "trace/predict/schedule/recorded_steps.h"

namespace shardlens::trace::predict {

struct BucketTime {
  std::int64_t bytes = 0;  // of its gradients
  std::size_t tensors = 0;
  std::int64_t ready_ns = 0;  // on the last rank; absolute
  std::int64_t start_ns = 0, end_ns = 0;
};

struct DdpPlan {
  BucketCaps caps;
  bool overlaps = true;  // false: buckets wait for the last gradient
  // Nanoseconds that the reduction of so many bytes of gradients takes.
  std::function<double(double bytes)> transfer_ns;
};

struct DdpSchedule {
  std::vector<BucketTime> buckets;
  std::int64_t backward_end_ns = 0;  // on the last rank; absolute
  std::int64_t overlapped_ns = 0;    // of all reductions, before the last rank's last gradient
};

// Gradients come as they did; buckets are reduced in order, one after another, each once all of its
// gradients are ready on all ranks. What the host does before and after them is left out.
DdpSchedule schedule_ddp(const RecordedStep& step, std::span<const std::int64_t> gradient_bytes,
                         const DdpPlan& plan);

}  // namespace shardlens::trace::predict
