// Tensors of LibTorch as the types and bytes of a safetensors file. Any thread.
#pragma once

#include <torch/types.h>

#include <cstddef>
#include <optional>
#include <span>

#include "trainer/checkpoint/safetensors.h"

namespace shardlens::trainer::checkpoint {

std::optional<DataType> data_type_of(torch::ScalarType type);  // none: no file holds it
torch::ScalarType scalar_type_of(DataType type);

// The bytes of a contiguous tensor in the CPU's memory; valid as long as it is.
std::span<const std::byte> bytes_of_tensor(const torch::Tensor& tensor);
std::span<std::byte> writable_bytes_of_tensor(const torch::Tensor& tensor);

}  // namespace shardlens::trainer::checkpoint
