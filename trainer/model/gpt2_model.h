// The GPT-2 family with Hugging Face's names: transformer.h.0.attn.c_attn.weight, … The training
// thread.
#pragma once

#include <memory>
#include <vector>

#include "trainer/model/decoder_model.h"

namespace shardlens::trainer::model {

class Gpt2Model : public DecoderModel {
 public:
  Gpt2Model(const ModelShape& shape, double dropout, ParameterPlace place);
  torch::Tensor hidden(const torch::Tensor& tokens) override;
  OutputHead& head() override { return *head_; }
  std::vector<std::shared_ptr<Layer>> blocks() const override;

 private:
  struct Attention;
  struct Mlp;
  struct Block;
  struct Transformer;

  std::shared_ptr<Transformer> transformer_;
  std::shared_ptr<OutputHead> head_;
};

}  // namespace shardlens::trainer::model
