#include "trainer/data/batch_stream.h"

#include <algorithm>
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
}

TokenBatch BatchStream::next() {
  const auto left = order_.size() - position_;
  const auto wanted = static_cast<std::size_t>(batch_per_rank_);
  if (left == 0 || (drop_last_ && left < wanted)) {
    start_epoch(epoch_ + 1);
    return next();
  }
  const auto rows = std::min(left, wanted);
  const std::span<const std::int64_t> blocks(order_.data() + position_, rows);
  position_ += rows;
  return dataset_.batch(blocks);
}

}  // namespace shardlens::trainer
