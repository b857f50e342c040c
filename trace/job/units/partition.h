// How parameters are divided: which rank updates which of them under ZeRO-1, and which modules
// become units of sharding by their size. Any thread.
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

// For the trainer, which has the modules, and for predictions, which have a shape alone.
struct ModuleNode {
  int id = 0;               // the caller's
  std::int64_t values = 0;  // of parameters that are its own alone: not of its children, nor shared
  bool can_be_unit = false;  // it turns one tensor into one
  std::int64_t times = 1;    // there are so many alike, as the blocks of a model
  std::vector<ModuleNode> children;
};

// As PyTorch's size_based_auto_wrap_policy, from the inside: what has at least `smallest` values
// without those of units below it. The ids of the units.
std::vector<int> units_by_size(const ModuleNode& model, std::int64_t smallest);

}  // namespace shardlens::trace::job
