// DistributedDataParallel's step: buckets reduced in order while backward computes; with ZeRO-1's
// updated parameters sent behind it. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/predict/schedule/bucket_plan.h"
#include "trace/predict/schedule/step_program.h"

namespace shardlens::trace::predict {

struct BucketProgramPlan {
  std::span<const std::int64_t> gradient_bytes;  // in the order in which they come
  BucketCaps caps;
  bool overlaps = true;     // false: buckets wait for the last gradient
  bool compresses = false;  // to 16 bits
  std::size_t micro_batches = 1, recorded_micro_batches = 1;
  bool reduces_each = false;  // every micro-batch's gradients, not only the last one's
  int ranks = 2;
  // What is computed a second time, in order; by gradient, the place in LayerMoments::backwards
  // that backward has come to with it; how many layers there are. None: nothing changes there.
  std::vector<SecondForward> second_forwards{};
  std::vector<std::size_t> gradient_places{};
  std::size_t layers = 0;
};

// Calls without what they take. Each bucket is launched once its last gradient is ready and the
// next micro-batch begins when all are reduced. What the host does before and after reductions is
// left out. A step that is scheduled has all of the plan's gradients.
StepProgram bucket_program(const BucketProgramPlan& plan);

}  // namespace shardlens::trace::predict
