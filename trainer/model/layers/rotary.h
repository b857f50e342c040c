// Rotary position embeddings in Hugging Face's half-split form. The training thread.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "trainer/model/layers/model_shape.h"

namespace shardlens::trainer::model {

// Rotation per position of each of the head_width / 2 pairs, stretched if asked.
std::vector<float> rotary_frequencies(const ModelShape& shape);

class Rotary : public torch::nn::Module {
 public:
  Rotary(const ModelShape& shape, torch::Device device);

  // Rotates [batch, heads, time, head width] by position.
  torch::Tensor apply(const torch::Tensor& x);

 private:
  void extend_to(std::int64_t time);

  double amplitude_ = 1;       // of sine and cosine, YaRN's
  torch::Tensor frequencies_;  // [head width / 2]; the buffer inv_freq, which may be of fewer bits
  torch::Tensor cos_, sin_;    // [time, head width], of the longest sequence seen
};

}  // namespace shardlens::trainer::model
