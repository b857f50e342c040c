// The building blocks of both layouts, with Hugging Face's parameter names and shapes and without
// values: the model initialises them. The training thread.
#pragma once

#include <torch/torch.h>

#include <cstdint>

#include "trainer/model/layer.h"

namespace shardlens::trainer {

struct Embedding : Layer {
  Embedding(std::int64_t rows, std::int64_t width, torch::Device device);
  torch::Tensor compute(const torch::Tensor& tokens) override {
    return at::embedding(weight, tokens);
  }
  torch::Tensor weight;  // [rows, width]
};

// GPT-2's linear layer, stored transposed.
struct Conv1d : Layer {
  Conv1d(std::int64_t in, std::int64_t out, torch::Device device);
  torch::Tensor compute(const torch::Tensor& x) override;
  torch::Tensor weight;  // [in, out]
  torch::Tensor bias;    // [out]
};

struct Projection : Layer {
  Projection(std::int64_t in, std::int64_t out, torch::Device device);
  // The same matrix under a second name.
  explicit Projection(const torch::Tensor& shared);
  torch::Tensor compute(const torch::Tensor& x) override { return at::linear(x, weight); }
  torch::Tensor weight;  // [out, in]
};

struct LayerNorm : Layer {
  LayerNorm(std::int64_t width, double epsilon, torch::Device device);
  torch::Tensor compute(const torch::Tensor& x) override;
  torch::Tensor weight;
  torch::Tensor bias;

 private:
  double epsilon_;
};

struct RmsNorm : Layer {
  RmsNorm(std::int64_t width, double epsilon, torch::Device device);
  torch::Tensor compute(const torch::Tensor& x) override;
  torch::Tensor weight;

 private:
  double epsilon_;
};

// Causal attention over [batch, heads, time, head width]; key and value may have fewer heads.
torch::Tensor causal_attention(const torch::Tensor& query, const torch::Tensor& key,
                               const torch::Tensor& value, double dropout);

}  // namespace shardlens::trainer
