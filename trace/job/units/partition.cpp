#include "trace/job/units/partition.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

namespace shardlens::trace::job {

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

}  // namespace shardlens::trace::job
