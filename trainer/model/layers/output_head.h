// The output matrix of a language model, and the loss of what it predicts. The training thread.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>
#include <optional>

#include "trainer/model/layers/chunked_loss.h"
#include "trainer/model/layers/layers.h"

namespace shardlens::trainer::model {

struct OutputHead : Projection {
  using Projection::Projection;

  // Its matrix is `embedding` [vocabulary, width] where the shape ties them, else its own.
  static std::shared_ptr<OutputHead> create(const ModelShape& shape, const torch::Tensor& embedding,
                                            ParameterPlace place);

  // Cross entropy of `targets` [batch, time] after `hidden` [batch, time, width] in nats, summed
  // over those that are not ignored and divided by `divisor`, a scalar; 0 if all are. `chunks`
  // absent: the logits of all tokens exist at once.
  torch::Tensor loss(const torch::Tensor& hidden, const torch::Tensor& targets, double divisor,
                     const std::optional<ChunkedLossOptions>& chunks);

  // As score_of_logits() of batch_score.h: [2], the sum of losses and the targets foretold.
  torch::Tensor score(const torch::Tensor& hidden, const torch::Tensor& targets,
                      const std::optional<ChunkedLossOptions>& chunks);

  // The logits; within loss() and score() by chunks, their result: a strategy that steps in around
  // the forward of layers gathers the matrix for either.
  torch::Tensor compute(const torch::Tensor& hidden) override;

 private:
  // Gets hidden [tokens, width].
  using ByChunks = std::function<torch::Tensor(const torch::Tensor& hidden)>;
  std::optional<ByChunks> by_chunks_;
};

}  // namespace shardlens::trainer::model
