#include "trace/job/units/partition.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

namespace shardlens::trace::job {

namespace {

std::int64_t values_in(const ModuleNode& module) {
  std::int64_t values = module.values;
  for (const ModuleNode& child : module.children) values += child.times * values_in(child);
  return values;
}

// Returns how many values of `module` are in units.
std::int64_t choose(const ModuleNode& module, std::int64_t smallest, std::vector<int>& units) {
  const std::int64_t all = values_in(module);
  if (all < smallest) return 0;
  std::int64_t wrapped = 0;
  for (const ModuleNode& child : module.children) {
    wrapped += child.times * choose(child, smallest, units);
  }
  if (!module.can_be_unit || all - wrapped < smallest) return wrapped;
  units.push_back(module.id);
  return all;
}

}  // namespace

std::vector<int> partition_parameters(std::span<const std::int64_t> numels, int ranks) {
  std::vector<std::size_t> order(numels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return numels[i]; });
  using Share = std::pair<std::int64_t, int>;  // of equal ones the first rank's
  std::priority_queue<Share, std::vector<Share>, std::greater<>> least;
  for (int rank = 0; rank < ranks; ++rank) least.push({0, rank});
  std::vector<int> owners(numels.size());
  for (const std::size_t i : order) {
    const auto [sum, rank] = least.top();
    least.pop();
    least.push({sum + numels[i], rank});
    owners[i] = rank;
  }
  return owners;
}

std::vector<std::vector<std::size_t>> parts_of_owner(std::span<const std::int64_t> numels,
                                                     std::span<const int> owners, int owner,
                                                     std::int64_t cap) {
  std::vector<std::vector<std::size_t>> parts;
  std::int64_t size = cap;
  for (std::size_t i = 0; i < numels.size(); ++i) {
    if (owners[i] != owner) continue;
    if (size >= cap) {
      parts.emplace_back();
      size = 0;
    }
    parts.back().push_back(i);
    size += numels[i];
  }
  return parts;
}

std::vector<int> units_by_size(const ModuleNode& model, std::int64_t smallest) {
  std::vector<int> units;
  choose(model, smallest, units);
  return units;
}

}  // namespace shardlens::trace::job
