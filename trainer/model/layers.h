// The building blocks of all layouts, with Hugging Face's parameter names and shapes and without
// values: the model initialises them. The training thread.
#pragma once

#include <torch/torch.h>

#include <cstdint>

#include "trainer/model/layer.h"
#include "trainer/model/model_options.h"
#include "trainer/model/model_shape.h"

namespace shardlens::trainer {

struct Embedding : Layer {
  // The row `padding` gets no gradient; -1: all do.
  Embedding(std::int64_t rows, std::int64_t width, ParameterPlace place, std::int64_t padding = -1);
  torch::Tensor compute(const torch::Tensor& tokens) override {
    return at::embedding(weight, tokens, padding_);
  }
  torch::Tensor weight;  // [rows, width]

 private:
  std::int64_t padding_;
};

// GPT-2's linear layer, stored transposed.
struct Conv1d : Layer {
  Conv1d(std::int64_t in, std::int64_t out, ParameterPlace place);
  torch::Tensor compute(const torch::Tensor& x) override;
  torch::Tensor weight;  // [in, out]
  torch::Tensor bias;    // [out]
};

struct Projection : Layer {
  Projection(std::int64_t in, std::int64_t out, ParameterPlace place, bool has_bias = false);
  // The same matrix under a second name.
  explicit Projection(const torch::Tensor& shared);
  torch::Tensor compute(const torch::Tensor& x) override { return at::linear(x, weight, bias); }
  torch::Tensor weight;  // [out, in]
  torch::Tensor bias;    // [out], or undefined
};

struct LayerNorm : Layer {
  LayerNorm(std::int64_t width, double epsilon, ParameterPlace place);
  torch::Tensor compute(const torch::Tensor& x) override;
  torch::Tensor weight;
  torch::Tensor bias;

 private:
  double epsilon_;
};

struct RmsNorm : Layer {
  RmsNorm(std::int64_t width, double epsilon, ParameterPlace place);
  torch::Tensor compute(const torch::Tensor& x) override;
  torch::Tensor weight;

 private:
  double epsilon_;
};

torch::Tensor activate(Activation activation, const torch::Tensor& x);

}  // namespace shardlens::trainer
