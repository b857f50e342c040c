#include "trainer/tensor/named_tensor.h"

#include <unordered_set>

namespace shardlens::trainer::tensor {

std::vector<NamedTensor> without_duplicates(const std::vector<NamedTensor>& tensors) {
  std::vector<NamedTensor> unique;
  std::unordered_set<const c10::TensorImpl*> seen;
  for (const NamedTensor& each : tensors) {
    if (seen.insert(each.tensor.unsafeGetTensorImpl()).second) unique.push_back(each);
  }
  return unique;
}

std::vector<NamedTensor> named_parameters_of(const torch::nn::Module& module) {
  std::vector<NamedTensor> named;
  for (const auto& item : module.named_parameters()) named.push_back({item.key(), item.value()});
  return without_duplicates(named);
}

std::vector<NamedTensor> named_buffers_of(const torch::nn::Module& module) {
  std::vector<NamedTensor> named;
  for (const auto& item : module.named_buffers()) named.push_back({item.key(), item.value()});
  return without_duplicates(named);
}

std::vector<torch::Tensor> tensors_of(const std::vector<NamedTensor>& named) {
  std::vector<torch::Tensor> tensors;
  for (const NamedTensor& each : named) tensors.push_back(each.tensor);
  return tensors;
}

}  // namespace shardlens::trainer::tensor
