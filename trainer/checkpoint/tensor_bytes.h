// Tensors of LibTorch as the types and bytes of a safetensors file. Any thread.
#pragma once

#include <torch/types.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "trainer/checkpoint/safetensors.h"

namespace shardlens::trainer::checkpoint {

// In the order of DataType.
inline constexpr std::array kScalarTypes = {torch::kFloat32, torch::kFloat16, torch::kBFloat16,
                                            torch::kFloat64, torch::kInt64,   torch::kInt32,
                                            torch::kUInt8,   torch::kBool};
static_assert(kScalarTypes.size() == kDataTypeCount);

// None: no file holds it.
inline std::optional<DataType> data_type_of(torch::ScalarType type) {
  const auto at = std::ranges::find(kScalarTypes, type) - kScalarTypes.begin();
  if (at == std::ssize(kScalarTypes)) return std::nullopt;
  return static_cast<DataType>(at);
}
inline torch::ScalarType scalar_type_of(DataType type) {
  return kScalarTypes[static_cast<std::size_t>(type)];
}

// The bytes of a contiguous tensor in the CPU's memory; valid as long as it is.
inline std::span<const std::byte> bytes_of_tensor(const torch::Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.const_data_ptr()), tensor.nbytes()};
}
inline std::span<std::byte> writable_bytes_of_tensor(const torch::Tensor& tensor) {
  return {static_cast<std::byte*>(tensor.mutable_data_ptr()), tensor.nbytes()};
}

}  // namespace shardlens::trainer::checkpoint
