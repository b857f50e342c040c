// The output matrix of a language model, and the loss of what it predicts. The training thread.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <optional>

#include "trainer/model/chunked_loss.h"
#include "trainer/model/layers.h"

namespace shardlens::trainer {

struct OutputHead : Projection {
  using Projection::Projection;

  // Mean cross entropy of `targets` [batch, time] after `hidden` [batch, time, width], a scalar in
  // nats per token. `chunks` absent: the logits of all tokens exist at once.
  torch::Tensor loss(const torch::Tensor& hidden, const torch::Tensor& targets,
                     const std::optional<ChunkedLossOptions>& chunks);

  // The logits; within a chunked loss(), that loss: a strategy that steps in around the forward of
  // layers gathers the matrix for either.
  torch::Tensor compute(const torch::Tensor& hidden) override;

 private:
  struct ChunkedTargets {
    torch::Tensor targets;
    ChunkedLossOptions options;
  };
  std::optional<ChunkedTargets> chunked_;
};

}  // namespace shardlens::trainer
