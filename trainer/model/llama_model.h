// The Llama family with Hugging Face's names: model.layers.0.self_attn.q_proj.weight, … The
// training thread.
#pragma once

#include <memory>
#include <vector>

#include "trainer/model/decoder_model.h"
#include "trainer/model/layers/rotary.h"

namespace shardlens::trainer::model {

class LlamaModel : public DecoderModel {
 public:
  LlamaModel(const ModelShape& shape, double dropout, ParameterPlace place);
  torch::Tensor hidden(const torch::Tensor& tokens) override;
  OutputHead& head() override { return *head_; }
  std::vector<std::shared_ptr<Layer>> blocks() const override;

 private:
  struct Positions;
  struct Attention;
  struct Mlp;
  struct Block;
  struct Decoder;

  std::shared_ptr<Rotary> rotary_;
  std::shared_ptr<Decoder> decoder_;
  std::shared_ptr<OutputHead> head_;
};

}  // namespace shardlens::trainer::model
