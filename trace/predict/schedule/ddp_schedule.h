// When DDP's buckets are reduced, and with that when backward ends, for another bucket plan or
// another link than a step was recorded with. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/predict/schedule/recorded_steps.h"

namespace shardlens::trace::predict {

struct PlannedBucket {
  std::int64_t bytes = 0;  // of its gradients
  std::size_t tensors = 0;
  std::size_t last_gradient = 0;  // its place in the order in which gradients come
  // What its reduction takes, and for how much of that, from its begin on, it needs what computes,
  // too.
  std::int64_t transfer_ns = 0, working_ns = 0;
};

struct DdpPlan {
  std::vector<PlannedBucket> buckets;  // in the order of their reduction
  bool overlaps = true;                // false: buckets wait for the last gradient
  // How much longer backward computes than it did, between its first gradient and its last.
  double slowdown = 1;
};

struct BucketTime {
  std::int64_t bytes = 0;
  std::size_t tensors = 0;
  std::int64_t ready_ns = 0;  // on the last rank; absolute
  std::int64_t start_ns = 0, end_ns = 0;

  bool operator==(const BucketTime&) const = default;
};

struct DdpSchedule {
  std::vector<BucketTime> buckets;
  std::int64_t last_ready_ns = 0, backward_end_ns = 0;  // on the last rank; absolute
  std::int64_t contended_ns = 0;  // reductions' work before the last gradient was ready

  std::int64_t tail_ns() const { return backward_end_ns - last_ready_ns; }
};

// Gradients come as they did; buckets are reduced in order, one after another, each once all of its
// gradients are ready on all ranks. What the host does before and after them is left out. The step
// has all of the plan's gradients.
DdpSchedule schedule_ddp(const RecordedStep& step, const DdpPlan& plan);

}  // namespace shardlens::trace::predict
