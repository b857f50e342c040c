// DDP's buckets from sizes alone, as PyTorch plans them once it knows in which order gradients come
// (torch/csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size, PyTorch 2.11). Any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shardlens::trace::predict {

struct BucketCaps {
  std::int64_t first_bytes = 0;  // of the first bucket
  std::int64_t bytes = 0;        // of all others
};

// Places in `gradient_bytes`, which is in the order in which gradients come and of one data type:
// bucket by bucket, in the order of their reduction. A bucket closes once its size reaches its cap;
// a tensor is never split.
std::vector<std::vector<std::size_t>> plan_buckets(std::span<const std::int64_t> gradient_bytes,
                                                   const BucketCaps& caps);

}  // namespace shardlens::trace::predict
