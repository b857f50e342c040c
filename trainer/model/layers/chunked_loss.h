// Cross entropy of a language model's output matrix that never holds the logits of all tokens. The
// training thread, and autograd's.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "trainer/model/layers/token_batch.h"

namespace shardlens::trainer::model {

struct ChunkedLossOptions {
  std::int64_t chunk_tokens = 1024;  // whose logits exist at a time
  // What the loss is multiplied by before backward, a scalar on the device: gradients of logits in
  // fp16 would vanish without it. Undefined: 1.
  torch::Tensor loss_scale;
};

// Cross entropy in nats, summed over the targets that are not ignored and divided by `divisor`, a
// scalar in fp32 (fp64 for fp64), of the logits hidden · weightᵀ. `hidden` [tokens, width],
// `weight` [vocabulary, width], `targets` [tokens], int64. All may be ignored: 0. Computes in
// autocast's type if that is on, else in the type of `hidden`; softmax, loss and the sum of the
// weight's gradient over chunks are in fp32. The gradients are computed with the loss, as long as a
// chunk's logits are there (Hsu et al. 2024, Liger Kernel, section 3.2), so that nothing as large
// as the logits waits for backward.
torch::Tensor chunked_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight,
                                    const torch::Tensor& targets, double divisor,
                                    const ChunkedLossOptions& options);

}  // namespace shardlens::trainer::model
