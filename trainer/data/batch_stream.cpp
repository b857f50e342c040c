#include "trainer/data/batch_stream.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/types.h>

#include <algorithm>
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

std::vector<std::int64_t> DistributedSampler::order(std::int64_t epoch) const {
  if (options_.shuffle) {
    return permutation(options_.samples, options_.seed + static_cast<std::uint64_t>(epoch));
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

BatchStream::BatchStream(const TokenDataset& dataset, const SamplerOptions& options,
                         std::int64_t batch_per_rank, std::int64_t batches_per_step)
    : dataset_(dataset),
      options_(options),
      sampler_(options),
      batch_per_rank_(batch_per_rank),
      batches_per_step_(batches_per_step) {}

std::int64_t BatchStream::batches_per_epoch() const {
  const auto size = sampler_.size();
  return options_.drop_last ? size / batch_per_rank_
                            : (size + batch_per_rank_ - 1) / batch_per_rank_;
}

void BatchStream::go_to(std::int64_t epoch, std::int64_t batches) {
  place_ = {epoch, std::clamp<std::int64_t>(batches, 0, batches_per_epoch())};
  left_of_step_ = 0;
  epochs_.clear();
}

BatchStream::Place BatchStream::after(Place place) const {
  // The data set has enough for a batch, see TokenDataset::create().
  if (place.batches == batches_per_epoch()) place = {place.epoch + 1, 0};
  ++place.batches;
  return place;
}

const std::vector<std::int64_t>& BatchStream::order_of(std::int64_t epoch) {
  while (!epochs_.empty() && epochs_.front().number < place_.epoch) epochs_.pop_front();
  const auto found = std::ranges::find(epochs_, epoch, &Epoch::number);
  if (found != epochs_.end()) return found->order;
  return epochs_.emplace_back(Epoch{epoch, sampler_.order(epoch)}).order;
}

std::vector<std::int64_t> BatchStream::samples_at(Place place, int rank) {
  const std::vector<std::int64_t>& order = order_of(place.epoch);
  const std::int64_t begin = (place.batches - 1) * batch_per_rank_;
  const std::int64_t end = std::min(sampler_.size(), begin + batch_per_rank_);
  std::vector<std::int64_t> samples;
  for (std::int64_t i = begin; i < end; ++i) {
    const auto sample = sampler_.sample_at(order, rank, i);
    if (sample) samples.push_back(*sample);
  }
  return samples;
}

StepTotals BatchStream::step_from(Place place) {
  StepTotals totals;
  for (std::int64_t batch = 0; batch < batches_per_step_; ++batch, place = after(place)) {
    for (int rank = 0; rank < options_.world_size; ++rank) {
      const auto samples = samples_at(place, rank);
      ++totals.batches;
      if (samples.empty()) ++totals.stand_ins;
      for (const std::int64_t sample : samples) totals.targets += dataset_.counted_targets(sample);
    }
  }
  return totals;
}

TrainingBatch BatchStream::next() {
  place_ = after(place_);
  if (left_of_step_ == 0) {
    step_ = step_from(place_);
    left_of_step_ = batches_per_step_;
  }
  --left_of_step_;
  const auto samples = samples_at(place_, options_.rank);
  model::TokenBatch batch = samples.empty() ? dataset_.stand_in() : dataset_.batch(samples);
  return {std::move(batch), step_};
}

}  // namespace shardlens::trainer::data
