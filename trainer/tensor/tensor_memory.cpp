#include "trainer/tensor/tensor_memory.h"

namespace shardlens::trainer::tensor {

torch::Tensor tensor_without_memory(at::IntArrayRef sizes, const torch::TensorOptions& options) {
  torch::Tensor tensor = torch::empty({0}, options);
  // Views are checked against the storage's size, so it says what it will have.
  const std::size_t bytes =
      static_cast<std::size_t>(c10::multiply_integers(sizes)) * tensor.element_size();
  tensor.storage().unsafeGetStorageImpl()->set_nbytes(bytes);
  tensor.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
  return tensor;
}

bool has_memory(const torch::Tensor& tensor) {
  return tensor.numel() == 0 || tensor.storage().data_ptr().get() != nullptr;
}

// Swapping the pointer inside the same StorageImpl keeps every view valid, also those that autograd
// saved in forward.
void give_memory(const torch::Tensor& tensor) {
  const std::size_t bytes = static_cast<std::size_t>(tensor.numel()) * tensor.element_size();
  c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
  storage->set_data_ptr_noswap(c10::GetAllocator(tensor.device().type())->allocate(bytes));
  storage->set_nbytes(bytes);
}

c10::DataPtr take_memory(const torch::Tensor& tensor) {
  c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
  storage->set_nbytes(0);
  return storage->set_data_ptr(c10::DataPtr(nullptr, tensor.device()));
}

}  // namespace shardlens::trainer::tensor
