// How well a model predicts held-out targets. The training thread, without gradients.
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace shardlens::trainer::model {

// Of the targets that are not ignored, as [2] in fp64: the sum of their cross entropies in nats,
// and how many of them have the largest logit (the first, where several are equal). `logits`
// [targets, classes], `targets` [targets], int64.
torch::Tensor score_of_logits(const torch::Tensor& logits, const torch::Tensor& targets);

// The same of the logits hidden · weightᵀ, of which those of `chunk_tokens` exist at a time.
// `hidden` [tokens, width], `weight` [vocabulary, width]; in autocast's type if that is on.
torch::Tensor score_of_hidden(const torch::Tensor& hidden, const torch::Tensor& weight,
                              const torch::Tensor& targets, std::int64_t chunk_tokens);

}  // namespace shardlens::trainer::model
