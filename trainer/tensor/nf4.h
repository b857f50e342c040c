// QLoRA's 4-bit NormalFloat, by plain ATen operators on any device: blocks of 64 values that share
// the largest absolute one. A tensor in 4 bits is a flat one of bytes, block after block: the scale
// (fp32, the machine's byte order), then the values' codes, the first of two in the higher half of
// a byte; the last block is filled up with zeros. trace::nf4_bytes() says how many. Any thread.
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace shardlens::trainer::tensor {

// `values` floating-point, of any shape → bytes, on the same device. Each becomes the nearest of
// the 16 levels times its block's largest absolute value.
torch::Tensor quantize_nf4(const torch::Tensor& values);

// The two levels that each byte of codes stands for, [256, 2] in fp32. On a GPU the host waits for
// the copy: who dequantizes again and again keeps it.
torch::Tensor nf4_levels(torch::Device device);

// Bytes of whole blocks → the first `count` values in `type`, flat; rounded once. `levels`: those
// of the bytes' device.
torch::Tensor dequantize_nf4(const torch::Tensor& bytes, std::int64_t count, torch::ScalarType type,
                             const torch::Tensor& levels);
inline torch::Tensor dequantize_nf4(const torch::Tensor& bytes, std::int64_t count,
                                    torch::ScalarType type) {
  return dequantize_nf4(bytes, count, type, nf4_levels(bytes.device()));
}

}  // namespace shardlens::trainer::tensor
