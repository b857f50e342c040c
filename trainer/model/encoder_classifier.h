// The BERT and RoBERTa families as classifiers of sequences, with Hugging Face's names:
// bert.encoder.layer.0.attention.self.query.weight, … The training thread.
#pragma once

#include <memory>
#include <vector>

#include "trainer/model/layers/layers.h"
#include "trainer/model/layers/model_shape.h"
#include "trainer/model/model.h"

namespace shardlens::trainer::model {

class EncoderClassifier : public Model {
 public:
  EncoderClassifier(const ModelShape& shape, double dropout, ParameterPlace place);

  // `tokens` [batch, time], int64; `attention_mask` as TokenBatch's → [batch, labels].
  torch::Tensor logits(const torch::Tensor& tokens, const torch::Tensor& attention_mask = {});
  torch::Tensor loss(const TokenBatch& batch, double divisor,
                     const std::optional<ChunkedLossOptions>& chunks = std::nullopt) override;
  torch::Tensor score(const TokenBatch& batch,
                      const std::optional<ChunkedLossOptions>& chunks = std::nullopt) override;
  std::vector<std::shared_ptr<Layer>> blocks() const override { return blocks_; }

 private:
  double dropout_;
  // Which tokens of the batch under way are not padding: [batch, 1, 1, time], bool, or
  // undefined. Layers take one tensor, so all blocks look here; backward, which may compute them
  // again, ends before the next batch begins.
  std::shared_ptr<torch::Tensor> mask_;
  std::shared_ptr<Layer> encoder_, head_;
  std::vector<std::shared_ptr<Layer>> blocks_;
};

}  // namespace shardlens::trainer::model
