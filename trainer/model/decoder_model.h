// A decoder language model, whatever its layout. Owned and called by the training thread.
#pragma once

#include <torch/types.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainer/model/layers/output_head.h"
#include "trainer/model/model.h"

namespace shardlens::trainer::model {

class DecoderModel : public Model {
 public:
  // `body`, registered by this name, makes of tokens [batch, time], int64, what the output matrix
  // gets, [batch, time, width]; `blocks` are its own.
  DecoderModel(const std::string& name, std::shared_ptr<Layer> body,
               std::vector<std::shared_ptr<Layer>> blocks, std::shared_ptr<OutputHead> head)
      : body_(register_module(name, std::move(body))),
        blocks_(std::move(blocks)),
        head_(register_module("lm_head", std::move(head))) {}

  std::vector<std::shared_ptr<Layer>> blocks() const override { return blocks_; }
  OutputHead& head() { return *head_; }

  // `tokens` [batch, time], int64 → [batch, vocabulary], of the token that follows.
  torch::Tensor last_logits(const torch::Tensor& tokens) {
    const auto last = body_->forward(tokens).narrow(1, tokens.size(1) - 1, 1);
    return head_->forward(last).squeeze(1);
  }
  // `tokens` [batch, time], int64 → [batch, time, vocabulary].
  torch::Tensor logits(const torch::Tensor& tokens) {
    return head_->forward(body_->forward(tokens));
  }
  // Padding needs no mask: it comes last, and no token looks ahead.
  torch::Tensor loss(const TokenBatch& batch, double divisor,
                     const std::optional<ChunkedLossOptions>& chunks = std::nullopt) override {
    return head_->loss(body_->forward(batch.inputs), batch.targets, divisor, chunks);
  }
  torch::Tensor score(const TokenBatch& batch,
                      const std::optional<ChunkedLossOptions>& chunks = std::nullopt) override {
    return head_->score(body_->forward(batch.inputs), batch.targets, chunks);
  }
  // Mean cross entropy of `targets` [batch, time], none of them ignored, a scalar in nats per
  // token.
  torch::Tensor loss(const torch::Tensor& tokens, const torch::Tensor& targets,
                     const std::optional<ChunkedLossOptions>& chunks = std::nullopt) {
    return head_->loss(body_->forward(tokens), targets, static_cast<double>(targets.numel()),
                       chunks);
  }

 private:
  std::shared_ptr<Layer> body_;
  std::vector<std::shared_ptr<Layer>> blocks_;
  std::shared_ptr<OutputHead> head_;
};

// With Hugging Face's names: "transformer.h.0.attn.c_attn.weight", …
std::shared_ptr<DecoderModel> gpt2_model(const ModelShape& shape, double dropout,
                                         ParameterPlace place);
// "model.layers.0.self_attn.q_proj.weight", …
std::shared_ptr<DecoderModel> llama_model(const ModelShape& shape, double dropout,
                                          ParameterPlace place);

}  // namespace shardlens::trainer::model
