// Which rank updates which parameter under ZeRO-1. Any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace shardlens::trace::job {

// The owner of each parameter: the largest goes first, to the rank that has least so far, as
// PyTorch's ZeroRedundancyOptimizer._partition_parameters.
std::vector<int> partition_parameters(std::span<const std::int64_t> numels, int ranks);

// The parameters of one owner, cut into parts that are sent round one after another: a part ends
// once it has `cap` elements. Indices into `numels`, in their order.
std::vector<std::vector<std::size_t>> parts_of_owner(std::span<const std::int64_t> numels,
                                                     std::span<const int> owners, int owner,
                                                     std::int64_t cap);

}  // namespace shardlens::trace::job
