#include "trainer/data/block_dataset.h"

#include <algorithm>
#include <string>
#include <utility>

namespace shardlens::trainer {

BlockDataset::BlockDataset(std::vector<Token> tokens, std::int64_t length, std::int64_t blocks,
                           std::int64_t training_blocks)
    : tokens_(std::move(tokens)),
      length_(length),
      blocks_(blocks),
      training_blocks_(training_blocks) {}

trace::Result<BlockDataset> BlockDataset::create(std::vector<Token> tokens,
                                                 const trace::Settings& settings, int world_size) {
  const auto length = settings.sequence_length;
  const auto count = static_cast<std::int64_t>(tokens.size());
  const auto blocks = std::max<std::int64_t>(0, (count - 1) / length);
  auto evaluation =
      static_cast<std::int64_t>(static_cast<double>(blocks) * settings.evaluation_fraction);
  if (settings.evaluate_every > 0 && settings.evaluation_fraction > 0) {
    evaluation = std::max<std::int64_t>(evaluation, 1);
  }
  if (settings.evaluate_every > 0 && evaluation == 0) {
    return trace::fail(trace::ErrorKind::kUsage,
                       "evaluate_every asks for evaluation, but evaluation_fraction keeps no text "
                       "for it. Set evaluation_fraction above 0 or evaluate_every to 0.");
  }
  const auto training = blocks - evaluation;
  const auto needed = settings.batch_per_rank * settings.gradient_accumulation_steps *
                      static_cast<std::int64_t>(world_size);
  if (training < needed) {
    return trace::fail(trace::ErrorKind::kUsage,
                       "The text \"" + settings.data + "\" has " + std::to_string(count) +
                           " tokens, which is " + std::to_string(training) +
                           " training sequences of " + std::to_string(length) +
                           " tokens; one step needs " + std::to_string(needed) +
                           ". Use a longer text, or lower sequence_length, batch_per_rank, "
                           "gradient_accumulation_steps, evaluation_fraction or ranks.");
  }
  return BlockDataset(std::move(tokens), length, blocks, training);
}

TokenBatch BlockDataset::batch(std::span<const std::int64_t> blocks) const {
  const auto rows = static_cast<std::int64_t>(blocks.size());
  const auto both = torch::empty({rows, length_ + 1}, torch::kLong);
  auto* out = both.data_ptr<std::int64_t>();
  for (const std::int64_t block : blocks) {
    out = std::copy_n(tokens_.begin() + block * length_, length_ + 1, out);
  }
  TokenBatch batch;
  batch.inputs = both.narrow(1, 0, length_).contiguous();
  batch.targets = both.narrow(1, 1, length_).contiguous();
  batch.counted_targets = batch.targets.numel();
  return batch;
}

std::int64_t BlockDataset::checksum() const {
  std::uint64_t hash = 1469598103934665603u;  // FNV-1a
  for (const Token token : tokens_) hash = (hash ^ token) * 1099511628211u;
  return static_cast<std::int64_t>(hash >> 1);
}

}  // namespace shardlens::trainer
