// What strategies and the training loop need of a model, whatever it computes. Owned and called by
// the training thread.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <memory>
#include <optional>
#include <vector>

#include "trainer/model/layers/chunked_loss.h"
#include "trainer/model/layers/layer.h"
#include "trainer/model/layers/token_batch.h"

namespace shardlens::trainer::model {

class Model : public torch::nn::Module {
 public:
  // The transformer blocks, first to last.
  virtual std::vector<std::shared_ptr<Layer>> blocks() const = 0;
  // The cross entropy of the batch's counted targets in nats, summed and divided by `divisor`, a
  // scalar. With `chunks`, where the model has an output matrix over a vocabulary, the logits of
  // all tokens never exist at once.
  virtual torch::Tensor loss(const TokenBatch& batch, double divisor,
                             const std::optional<ChunkedLossOptions>& chunks = std::nullopt) = 0;
  // As score_of_logits() of batch_score.h: [2] in fp64, the sum of the counted targets' cross
  // entropies and how many of them are foretold. Without gradients.
  virtual torch::Tensor score(const TokenBatch& batch,
                              const std::optional<ChunkedLossOptions>& chunks = std::nullopt) = 0;
};

}  // namespace shardlens::trainer::model
