// A frozen matrix that is kept in fewer bits than are computed in, and products with it: it is
// expanded for the product, and again for backward, so that never more than one expanded matrix
// exists. The training thread and autograd's.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace shardlens::trainer::tensor {

// ---- QLoRA's 4-bit NormalFloat, by plain ATen operators on any device: blocks of 64 values that
// share the largest absolute one. A tensor in 4 bits is a flat one of bytes, block after block: the
// scale (fp32, the machine's byte order), then the values' codes, the first of two in the higher
// half of a byte; the last block is filled up with zeros. trace::job::nf4_bytes() says how many.

// `values` floating-point, of any shape → bytes, on the same device. Each becomes the nearest of
// the 16 levels times its block's largest absolute value.
torch::Tensor quantize_nf4(const torch::Tensor& values);

// The two levels that each byte of codes stands for, [256, 2] in fp32. On a GPU the host waits for
// the copy: who dequantizes again and again keeps it.
torch::Tensor nf4_levels(torch::Device device);

// Bytes of whole blocks → the first `count` values in `type`, flat; rounded once. `levels`: those
// of the bytes' device; undefined: they are made.
torch::Tensor dequantize_nf4(const torch::Tensor& bytes, std::int64_t count, torch::ScalarType type,
                             const torch::Tensor& levels = {});

// ---- whichever the bits

// What a product with `x` is computed in: autocast's type if that is on, else that of `x`.
torch::ScalarType computed_type(const torch::Tensor& x);

// The matrix of these sizes in `type`. `kept`: of these sizes in any floating-point type, or the
// bytes of quantize_nf4(), with their levels as above.
torch::Tensor expand_matrix(const torch::Tensor& kept, const std::vector<std::int64_t>& sizes,
                            torch::ScalarType type, const torch::Tensor& nf4_levels = {});

// `x` [..., in] → [..., out] in the computed type. `transposed`: the matrix is [in, out], else
// [out, in]. The gradient of `x` is as at::linear's; the matrix gets none.
torch::Tensor kept_matrix_product(const torch::Tensor& x, const torch::Tensor& kept,
                                  const std::vector<std::int64_t>& sizes, bool transposed,
                                  const torch::Tensor& nf4_levels = {});

}  // namespace shardlens::trainer::tensor
