#include "trainer/strategy/zero/partition.h"

#include <algorithm>
#include <numeric>

namespace shardlens::trainer::strategy {

std::vector<int> partition_parameters(std::span<const std::int64_t> numels, int ranks) {
  std::vector<std::size_t> order(numels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return numels[i]; });
  std::vector<std::int64_t> sums(static_cast<std::size_t>(ranks), 0);
  std::vector<int> owners(numels.size());
  for (const std::size_t i : order) {
    const auto least = std::ranges::min_element(sums);
    *least += numels[i];
    owners[i] = static_cast<int>(least - sums.begin());
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

}  // namespace shardlens::trainer::strategy
