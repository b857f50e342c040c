// Text cut into blocks of equal length, the last part of them kept for evaluation. Immutable; any
// thread.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <span>
#include <vector>

#include "trace/model/result.h"
#include "trace/model/settings.h"
#include "trainer/data/byte_tokenizer.h"
#include "trainer/model/token_batch.h"

namespace shardlens::trainer {

class BlockDataset {
 public:
  // Block i is tokens [i·T, i·T + T) and its targets are one further; a tail shorter than that is
  // not used. Errors (kUsage): too short for one step on every rank, or no evaluation block
  // although evaluation is asked for.
  static trace::Result<BlockDataset> create(std::vector<Token> tokens,
                                            const trace::Settings& settings, int world_size);

  std::int64_t training_blocks() const { return training_blocks_; }
  std::int64_t evaluation_blocks() const { return blocks_ - training_blocks_; }
  // Evaluation block i is block training_blocks() + i.
  TokenBatch batch(std::span<const std::int64_t> blocks) const;
  // Of all tokens, to find ranks that read different texts.
  std::int64_t checksum() const;
  std::int64_t token_count() const { return static_cast<std::int64_t>(tokens_.size()); }

 private:
  BlockDataset(std::vector<Token> tokens, std::int64_t length, std::int64_t blocks,
               std::int64_t training_blocks);

  std::vector<Token> tokens_;
  std::int64_t length_;
  std::int64_t blocks_;
  std::int64_t training_blocks_;
};

}  // namespace shardlens::trainer
