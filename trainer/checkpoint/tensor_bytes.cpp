#include "trainer/checkpoint/tensor_bytes.h"

namespace shardlens::trainer::checkpoint {

torch::ScalarType scalar_type_of(DataType type) {
  switch (type) {
    case DataType::kF32:
      return torch::kFloat32;
    case DataType::kF16:
      return torch::kFloat16;
    case DataType::kBF16:
      return torch::kBFloat16;
    case DataType::kF64:
      return torch::kFloat64;
    case DataType::kI64:
      return torch::kInt64;
    case DataType::kI32:
      return torch::kInt32;
    case DataType::kU8:
      return torch::kUInt8;
    case DataType::kBool:
      return torch::kBool;
  }
  return torch::kFloat32;
}

std::optional<DataType> data_type_of(torch::ScalarType type) {
  for (int i = 0; i <= static_cast<int>(DataType::kBool); ++i) {
    const auto each = static_cast<DataType>(i);
    if (scalar_type_of(each) == type) return each;
  }
  return std::nullopt;
}

std::span<const std::byte> bytes_of_tensor(const torch::Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.const_data_ptr()), tensor.nbytes()};
}

std::span<std::byte> writable_bytes_of_tensor(const torch::Tensor& tensor) {
  return {static_cast<std::byte*>(tensor.mutable_data_ptr()), tensor.nbytes()};
}

}  // namespace shardlens::trainer::checkpoint
