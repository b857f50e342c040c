// Which modules of a model become units of sharding by their size: for the trainer, which has the
// modules, and for predictions, which have a shape alone. Plain values, any thread.
#pragma once

#include <cstdint>
#include <vector>

namespace shardlens::trace::job {

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
