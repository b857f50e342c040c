#include "trainer/tensor/random_state.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>

#include <mutex>

namespace shardlens::trainer::tensor {

namespace {

at::Generator generator_of(torch::Device device) {
  return device.is_cuda() ? at::cuda::detail::getDefaultCUDAGenerator(device.index())
                          : at::detail::getDefaultCPUGenerator();
}

}  // namespace

torch::Tensor generator_state(torch::Device device) {
  at::Generator generator = generator_of(device);
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

void set_generator_state(torch::Device device, const torch::Tensor& state) {
  at::Generator generator = generator_of(device);
  const std::lock_guard lock(generator.mutex());
  generator.set_state(state);
}

}  // namespace shardlens::trainer::tensor
