// A decoder language model, whatever its layout. Owned and called by the training thread.
#pragma once

#include <torch/types.h>

#include <optional>

#include "trainer/model/layers/output_head.h"
#include "trainer/model/model.h"

namespace shardlens::trainer::model {

class DecoderModel : public Model {
 public:
  // `tokens` [batch, time], int64 → [batch, time, width], what the output matrix gets.
  virtual torch::Tensor hidden(const torch::Tensor& tokens) = 0;
  virtual OutputHead& head() = 0;

  // `tokens` [batch, time], int64 → [batch, vocabulary], of the token that follows.
  torch::Tensor last_logits(const torch::Tensor& tokens) {
    const auto last = hidden(tokens).narrow(1, tokens.size(1) - 1, 1);
    return head().forward(last).squeeze(1);
  }
  // `tokens` [batch, time], int64 → [batch, time, vocabulary].
  torch::Tensor logits(const torch::Tensor& tokens) { return head().forward(hidden(tokens)); }
  // Padding needs no mask: it comes last, and no token looks ahead.
  torch::Tensor loss(const TokenBatch& batch, double divisor,
                     const std::optional<ChunkedLossOptions>& chunks = std::nullopt) override {
    return head().loss(hidden(batch.inputs), batch.targets, divisor, chunks);
  }
  torch::Tensor score(const TokenBatch& batch,
                      const std::optional<ChunkedLossOptions>& chunks = std::nullopt) override {
    return head().score(hidden(batch.inputs), batch.targets, chunks);
  }
  // Mean cross entropy of `targets` [batch, time], none of them ignored, a scalar in nats per
  // token.
  torch::Tensor loss(const torch::Tensor& tokens, const torch::Tensor& targets,
                     const std::optional<ChunkedLossOptions>& chunks = std::nullopt) {
    return head().loss(hidden(tokens), targets, static_cast<double>(targets.numel()), chunks);
  }
};

}  // namespace shardlens::trainer::model
