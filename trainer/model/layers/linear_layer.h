// A layer that multiplies by a matrix: adapters stand beside it, and while it is frozen its matrix
// may be kept in fewer bits than are computed in. The training thread.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "trainer/model/layers/layer.h"
#include "trainer/tensor/kept_matrix.h"

namespace shardlens::trainer::model {

class LinearLayer : public Layer {
 public:
  torch::Tensor weight;  // as kept: in 4 bits, bytes without the matrix's shape

  // Stored [in, out], as GPT-2's, else [out, in].
  virtual bool is_transposed() const { return false; }
  const std::vector<std::int64_t>& matrix_sizes() const { return matrix_sizes_; }
  std::int64_t in_features() const { return matrix_sizes_[is_transposed() ? 0 : 1]; }
  std::int64_t out_features() const { return matrix_sizes_[is_transposed() ? 1 : 0]; }

  // Adds what `addition` makes of the layer's input, [..., in] → [..., out], to its output, which
  // keeps its type.
  void set_addition(Forward addition) { addition_ = std::move(addition); }

  // For a matrix in 4 bits, nf4_levels() of its device, which layers can share: without them they
  // are made for every product.
  void set_nf4_levels(torch::Tensor levels) { nf4_levels_ = std::move(levels); }

 protected:
  // Once, by constructors.
  void register_matrix(const torch::Tensor& matrix) {
    weight = register_parameter("weight", matrix);
    matrix_sizes_ = matrix.sizes().vec();
  }

  // The product and the layer's bias.
  virtual torch::Tensor multiply(const torch::Tensor& x) = 0;
  torch::Tensor compute(const torch::Tensor& x) override {
    const torch::Tensor product = multiply(x);
    return addition_ ? (product + addition_(x)).to(product.scalar_type()) : product;
  }

  // Whether the matrix has to be expanded before it can be multiplied by.
  bool is_packed_for(const torch::Tensor& x) const {
    return !weight.requires_grad() && weight.scalar_type() != torch::kFloat32 &&
           weight.scalar_type() != tensor::computed_type(x);
  }
  torch::Tensor packed_product(const torch::Tensor& x) const {
    return tensor::kept_matrix_product(x, weight, matrix_sizes_, is_transposed(), nf4_levels_);
  }

 private:
  std::vector<std::int64_t> matrix_sizes_;
  Forward addition_;
  torch::Tensor nf4_levels_;
};

}  // namespace shardlens::trainer::model
