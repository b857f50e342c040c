#include "trainer/data/batch_stream.h"

#include <algorithm>
#include <array>
#include <span>

namespace shardlens::trainer {

BatchStream::BatchStream(const BlockDataset& dataset, const SamplerOptions& options,
                         std::int64_t batch_per_rank)
    : dataset_(dataset),
      sampler_(options),
      batch_per_rank_(batch_per_rank),
      drop_last_(options.drop_last) {
  start_epoch(0);
}

std::int64_t BatchStream::batches_per_epoch() const {
  const auto size = sampler_.size();
  return drop_last_ ? size / batch_per_rank_ : (size + batch_per_rank_ - 1) / batch_per_rank_;
}

void BatchStream::start_epoch(std::int64_t epoch) {
  epoch_ = epoch;
  sampler_.set_epoch(epoch);
  order_ = sampler_.indices();
  position_ = 0;
  batches_ = 0;
}

void BatchStream::go_to(std::int64_t epoch, std::int64_t batches) {
  start_epoch(epoch);
  batches_ = std::clamp<std::int64_t>(batches, 0, batches_per_epoch());
  position_ = std::min(order_.size(), static_cast<std::size_t>(batches_ * batch_per_rank_));
}

TokenBatch BatchStream::next() {
  // An epoch without a whole batch ends at once: the data set has enough for one, see create().
  while (batches_ == batches_per_epoch()) start_epoch(epoch_ + 1);
  ++batches_;
  const auto rows = std::min(order_.size() - position_, static_cast<std::size_t>(batch_per_rank_));
  if (rows == 0) {
    TokenBatch stand_in = dataset_.batch(std::array<std::int64_t, 1>{0});
    stand_in.is_stand_in = true;
    return stand_in;
  }
  const std::span<const std::int64_t> blocks(order_.data() + position_, rows);
  position_ += rows;
  return dataset_.batch(blocks);
}

}  // namespace shardlens::trainer
