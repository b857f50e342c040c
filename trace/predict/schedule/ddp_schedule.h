// When DDP's buckets are reduced, and with that when the last backward of a step ends, for another
// bucket plan, link or number of micro-batches than a step was recorded with. Any thread.
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
  std::size_t micro_batches = 1;
  bool reduces_each = false;  // every micro-batch's gradients, not only the last one's
  // What a micro-batch computes, in those that were recorded.
  double work = 1;
  // How many recorded forwards backward takes longer by (what it recomputes), or, negative, less.
  double more_forwards = 0;
};

struct BucketTime {
  std::int64_t bytes = 0;
  std::size_t tensors = 0;
  std::int64_t ready_ns = 0;  // on the last rank; absolute
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t computed_ns =
      0;  // when its micro-batch's last gradient is ready; exposed from there

  bool operator==(const BucketTime&) const = default;
};

struct MicroBatchTime {
  std::size_t like = 0;  // the recorded one whose computation it repeats
  std::int64_t end_ns = 0;
  std::int64_t contended_ns = 0;  // reductions' work before its last gradient was ready
};

struct DdpSchedule {
  std::vector<MicroBatchTime> micro_batches;
  std::vector<BucketTime> buckets;   // of all micro-batches
  std::int64_t backward_end_ns = 0;  // of the last one, on the last rank; absolute
  std::int64_t exposed_ns = 0;       // by which reductions outlast their micro-batch's computation

  std::int64_t contended_ns() const;
};

// A micro-batch computes as one of the recorded does: the last as the last, the others as those
// before it, the only one as itself. Its gradients come as they did; buckets are reduced in order,
// one after another, each once all of its gradients are ready on all ranks; the next micro-batch
// begins when all are reduced. What the host does before and after reductions is left out.
// `slowdowns`: by micro-batch, how much longer backward computes between its first gradient and its
// last; empty: no longer. The step has all of the plan's gradients.
DdpSchedule schedule_ddp(const RecordedStep& step, const DdpPlan& plan,
                         const std::vector<double>& slowdowns = {});

// From the first gradient to the last of a recorded micro-batch, on the rank that has it last.
std::int64_t backward_ns(const RecordedStep& step, std::size_t micro_batch);

}  // namespace shardlens::trace::predict
