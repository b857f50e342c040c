// Products with a frozen matrix that is kept in fewer bits than are computed in: it is expanded for
// the product, and again for backward, so that never more than one expanded matrix exists. The
// training thread and autograd's.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace shardlens::trainer::tensor {

// What a product with `x` is computed in: autocast's type if that is on, else that of `x`.
torch::ScalarType computed_type(const torch::Tensor& x);

// The matrix of these sizes in `type`. `kept`: of these sizes in any floating-point type, or the
// bytes of quantize_nf4(), which are expanded by `nf4_levels` if these are given.
torch::Tensor expand_matrix(const torch::Tensor& kept, const std::vector<std::int64_t>& sizes,
                            torch::ScalarType type, const torch::Tensor& nf4_levels = {});

// `x` [..., in] → [..., out] in the computed type. `transposed`: the matrix is [in, out], else
// [out, in]. The gradient of `x` is as at::linear's; the matrix gets none.
torch::Tensor kept_matrix_product(const torch::Tensor& x, const torch::Tensor& kept,
                                  const std::vector<std::int64_t>& sizes, bool transposed,
                                  const torch::Tensor& nf4_levels = {});

}  // namespace shardlens::trainer::tensor
