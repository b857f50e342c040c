// Tensors whose memory comes and goes while their sizes, and all views of them, stay. The training
// thread.
#pragma once

#include <torch/types.h>

namespace shardlens::trainer::tensor {

// With sizes and a device, but no memory: whoever reads or writes it crashes.
torch::Tensor tensor_without_memory(at::IntArrayRef sizes, const torch::TensorOptions& options);
bool has_memory(const torch::Tensor& tensor);
// Uninitialised, for the whole storage.
void give_memory(const torch::Tensor& tensor);
// The memory is freed with what is returned.
c10::DataPtr take_memory(const torch::Tensor& tensor);

}  // namespace shardlens::trainer::tensor
