#include "trainer/model/layers.h"

namespace shardlens::trainer {

namespace {

torch::Tensor blank(at::IntArrayRef sizes, torch::Device device) {
  return torch::empty(sizes, torch::dtype(torch::kFloat32).device(device));
}

}  // namespace

Embedding::Embedding(std::int64_t rows, std::int64_t width, torch::Device device) {
  weight = register_parameter("weight", blank({rows, width}, device));
}

Conv1d::Conv1d(std::int64_t in, std::int64_t out, torch::Device device) {
  weight = register_parameter("weight", blank({in, out}, device));
  bias = register_parameter("bias", blank({out}, device));
}

torch::Tensor Conv1d::compute(const torch::Tensor& x) {
  auto sizes = x.sizes().vec();
  sizes.back() = weight.size(1);
  return at::addmm(bias, x.reshape({-1, x.size(-1)}), weight).view(sizes);
}

Projection::Projection(std::int64_t in, std::int64_t out, torch::Device device) {
  weight = register_parameter("weight", blank({out, in}, device));
}

Projection::Projection(const torch::Tensor& shared) {
  weight = register_parameter("weight", shared);
}

LayerNorm::LayerNorm(std::int64_t width, double epsilon, torch::Device device) : epsilon_(epsilon) {
  weight = register_parameter("weight", blank({width}, device));
  bias = register_parameter("bias", blank({width}, device));
}

torch::Tensor LayerNorm::compute(const torch::Tensor& x) {
  return at::layer_norm(x, weight.sizes(), weight, bias, epsilon_);
}

RmsNorm::RmsNorm(std::int64_t width, double epsilon, torch::Device device) : epsilon_(epsilon) {
  weight = register_parameter("weight", blank({width}, device));
}

torch::Tensor RmsNorm::compute(const torch::Tensor& x) {
  return at::rms_norm(x, weight.sizes(), weight, epsilon_);
}

torch::Tensor causal_attention(const torch::Tensor& query, const torch::Tensor& key,
                               const torch::Tensor& value, double dropout) {
  const bool grouped = key.size(1) != query.size(1);
  return at::scaled_dot_product_attention(query, key, value, /*attn_mask=*/{}, dropout,
                                          /*is_causal=*/true, /*scale=*/std::nullopt, grouped);
}

}  // namespace shardlens::trainer
