#include "trainer/data/distributed_sampler.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/types.h>

#include <numeric>

namespace shardlens::trainer::data {

namespace {

std::vector<std::int64_t> permutation(std::int64_t count, std::uint64_t seed) {
  const auto drawn =
      at::randperm(count, at::detail::createCPUGenerator(seed), torch::dtype(torch::kLong));
  const auto* data = drawn.const_data_ptr<std::int64_t>();
  return {data, data + count};
}

}  // namespace

std::int64_t DistributedSampler::size() const {
  const std::int64_t ranks = options_.world_size;
  return options_.drop_last ? options_.samples / ranks : (options_.samples + ranks - 1) / ranks;
}

std::vector<std::int64_t> DistributedSampler::order() const {
  if (options_.shuffle) {
    return permutation(options_.samples, options_.seed + static_cast<std::uint64_t>(epoch_));
  }
  std::vector<std::int64_t> all(static_cast<std::size_t>(options_.samples));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return all;
}

std::optional<std::int64_t> DistributedSampler::sample_at(const std::vector<std::int64_t>& order,
                                                          int rank, std::int64_t index) const {
  const auto position = static_cast<std::size_t>(rank + index * options_.world_size);
  if (order.empty() || (!options_.pad && position >= order.size())) return std::nullopt;
  // Beyond the end the samples repeat, as often as it takes.
  return order[position % order.size()];
}

}  // namespace shardlens::trainer::data
