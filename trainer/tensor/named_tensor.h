// Parameters and buffers of a module with their names, each tensor once. Any thread.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <string>
#include <vector>

namespace shardlens::trainer::tensor {

struct NamedTensor {
  std::string name;
  torch::Tensor tensor;
};

// Each tensor once, under its first name: a shared one (tied weights) comes twice from a module.
std::vector<NamedTensor> without_duplicates(const std::vector<NamedTensor>& tensors);
std::vector<NamedTensor> named_parameters_of(const torch::nn::Module& module);
std::vector<NamedTensor> named_buffers_of(const torch::nn::Module& module);
std::vector<torch::Tensor> tensors_of(const std::vector<NamedTensor>& named);

}  // namespace shardlens::trainer::tensor
