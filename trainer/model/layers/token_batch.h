// What a model is trained on in one forward. Plain values.
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace shardlens::trainer::model {

// Targets with this value count for nothing; PyTorch's default.
inline constexpr std::int64_t kIgnoredTarget = -100;

struct TokenBatch {
  torch::Tensor inputs;  // [batch, time], int64
  // Language models: [batch, time], the token after each input; classifiers: [batch], the class.
  torch::Tensor targets;
  // [batch, time], bool, false for padding, which is always at the end; undefined: there is none.
  torch::Tensor attention_mask;
  std::int64_t counted_targets = 0;  // that are not kIgnoredTarget
  std::int64_t read_tokens = 0;      // inputs that are not padding
  // This rank has run out of data before others: the batch is there so that it can take part in
  // their collectives, and counts for nothing.
  bool is_stand_in = false;
};

}  // namespace shardlens::trainer::model
