// The building blocks of all layouts, with Hugging Face's parameter names and shapes and without
// values: the model initialises them. The training thread.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>

#include "trainer/model/layers/layer.h"
#include "trainer/model/layers/linear_layer.h"
#include "trainer/model/layers/model_shape.h"

namespace shardlens::trainer::model {

struct Embedding : Layer {
  // The row `padding` gets no gradient; -1: all do.
  Embedding(std::int64_t rows, std::int64_t width, ParameterPlace place, std::int64_t padding = -1);
  torch::Tensor compute(const torch::Tensor& tokens) override {
    const torch::Tensor rows = at::embedding(weight, tokens, padding_);
    return output_type ? rows.to(*output_type) : rows;
  }
  torch::Tensor weight;  // [rows, width]
  // What it gives if not the type of `weight`, which may be kept in fewer bits.
  std::optional<torch::ScalarType> output_type;

 private:
  std::int64_t padding_;
};

// GPT-2's linear layer, stored transposed.
struct Conv1d : LinearLayer {
  Conv1d(std::int64_t in, std::int64_t out, ParameterPlace place);
  bool is_transposed() const override { return true; }
  torch::Tensor multiply(const torch::Tensor& x) override;
  torch::Tensor bias;  // [out]
};

struct Projection : LinearLayer {
  Projection(std::int64_t in, std::int64_t out, ParameterPlace place, bool has_bias = false);
  // The same matrix under a second name.
  explicit Projection(const torch::Tensor& shared);
  torch::Tensor multiply(const torch::Tensor& x) override;
  torch::Tensor bias;  // [out], or undefined
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

}  // namespace shardlens::trainer::model
