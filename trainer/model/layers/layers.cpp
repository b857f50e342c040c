#include "trainer/model/layers/layers.h"

#include "trainer/tensor/tensor_memory.h"

namespace shardlens::trainer::model {

namespace {

torch::Tensor blank(at::IntArrayRef sizes, ParameterPlace place) {
  const auto options = torch::dtype(torch::kFloat32).device(place.device);
  return place.has_memory ? torch::empty(sizes, options)
                          : tensor::tensor_without_memory(sizes, options);
}

}  // namespace

Embedding::Embedding(std::int64_t rows, std::int64_t width, ParameterPlace place,
                     std::int64_t padding)
    : padding_(padding) {
  weight = register_parameter("weight", blank({rows, width}, place));
}

Conv1d::Conv1d(std::int64_t in, std::int64_t out, ParameterPlace place) {
  register_matrix(blank({in, out}, place));
  bias = register_parameter("bias", blank({out}, place));
}

torch::Tensor Conv1d::multiply(const torch::Tensor& x) {
  if (is_packed_for(x)) {
    const torch::Tensor product = packed_product(x);
    return product + bias.to(product.scalar_type());
  }
  auto sizes = x.sizes().vec();
  sizes.back() = out_features();
  return at::addmm(bias, x.reshape({-1, x.size(-1)}), weight).view(sizes);
}

Projection::Projection(std::int64_t in, std::int64_t out, ParameterPlace place, bool has_bias) {
  register_matrix(blank({out, in}, place));
  if (has_bias) bias = register_parameter("bias", blank({out}, place));
}

Projection::Projection(const torch::Tensor& shared) { register_matrix(shared); }

torch::Tensor Projection::multiply(const torch::Tensor& x) {
  if (!is_packed_for(x)) return at::linear(x, weight, bias);
  const torch::Tensor product = packed_product(x);
  return bias.defined() ? product + bias.to(product.scalar_type()) : product;
}

LayerNorm::LayerNorm(std::int64_t width, double epsilon, ParameterPlace place) : epsilon_(epsilon) {
  weight = register_parameter("weight", blank({width}, place));
  bias = register_parameter("bias", blank({width}, place));
}

torch::Tensor LayerNorm::compute(const torch::Tensor& x) {
  return at::layer_norm(x, weight.sizes(), weight, bias, epsilon_);
}

RmsNorm::RmsNorm(std::int64_t width, double epsilon, ParameterPlace place) : epsilon_(epsilon) {
  weight = register_parameter("weight", blank({width}, place));
}

torch::Tensor RmsNorm::compute(const torch::Tensor& x) {
  return at::rms_norm(x, weight.sizes(), weight, epsilon_);
}

torch::Tensor activate(Activation activation, const torch::Tensor& x) {
  switch (activation) {
    case Activation::kGeluTanh:
      return at::gelu(x, "tanh");
    case Activation::kGelu:
      return at::gelu(x);
    case Activation::kRelu:
      return at::relu(x);
  }
  return x;
}

}  // namespace shardlens::trainer::model
