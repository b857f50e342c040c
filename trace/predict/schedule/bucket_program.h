// DistributedDataParallel's buckets, and its step: these are reduced in order while backward
// computes. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "trace/predict/schedule/step_program.h"

namespace shardlens::trace::predict {

// DDP's buckets from sizes alone, and caps from buckets, as PyTorch plans them once it knows in
// which order gradients come (torch/csrc/distributed/c10d/reducer.cpp,
// compute_bucket_assignment_by_size, PyTorch 2.11).
struct BucketCaps {
  std::int64_t first_bytes = 0;  // of the first bucket
  std::int64_t bytes = 0;        // of all others
};

// Places in `gradient_bytes`, which is in the order in which gradients come and of one data type:
// bucket by bucket, in the order of their reduction. A bucket closes once its size reaches its cap;
// a tensor is never split.
std::vector<std::vector<std::size_t>> plan_buckets(std::span<const std::int64_t> gradient_bytes,
                                                   const BucketCaps& caps);

// Of the caps that make DDP plan the buckets that a run had.
struct CapRange {
  std::int64_t above_bytes = 0;
  std::int64_t up_to_bytes = std::numeric_limits<std::int64_t>::max();  // that: any larger one

  bool is_empty() const { return above_bytes >= up_to_bytes; }
  bool has_end() const { return up_to_bytes != std::numeric_limits<std::int64_t>::max(); }
  bool holds(std::int64_t bytes) const { return above_bytes < bytes && bytes <= up_to_bytes; }
  bool operator==(const CapRange&) const = default;
};

struct FittingCaps {
  CapRange first, others;  // of the first bucket, of all others
  bool operator==(const FittingCaps&) const = default;
};

// `buckets`: how many gradients each held, in order of reduction, all of `gradient_bytes` together.
// None: no caps give these buckets.
std::optional<FittingCaps> fitting_caps(std::span<const std::int64_t> gradient_bytes,
                                        std::span<const std::size_t> buckets);

struct BucketProgramPlan {
  std::span<const std::int64_t> gradient_bytes;  // in the order in which they come
  BucketCaps caps;
  bool overlaps = true;     // false: buckets wait for the last gradient
  bool compresses = false;  // to 16 bits
  std::size_t micro_batches = 1, recorded_micro_batches = 1;
  // Every micro-batch's gradients, not only the last one's: now, and as recorded.
  bool reduces_each = false, recorded_reduces_each = false;
  // Of what a recorded micro-batch that is reduced computed up to its last gradient, what was done
  // for that: one that is not does without.
  double reducing_share = 0;
  SecondForwardCost second_forward{};
  int ranks = 2;
  // What is computed a second time, in order; by gradient, the place in LayerMoments::backwards
  // that backward has come to with it; how many layers there are. None: nothing changes there.
  std::vector<SecondForward> second_forwards{};
  std::vector<std::size_t> gradient_places{};
  std::size_t layers = 0;
};

// Calls without what they take. Each bucket is launched once its last gradient is ready and the
// next micro-batch begins when all are reduced. A step that is scheduled has all of the plan's
// gradients.
StepProgram bucket_program(const BucketProgramPlan& plan);

}  // namespace shardlens::trace::predict
