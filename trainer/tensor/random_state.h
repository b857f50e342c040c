// The state of the default generator of a device, from which dropout draws. The training thread and
// autograd's.
#pragma once

#include <ATen/Context.h>
#include <torch/types.h>

#include <mutex>

namespace shardlens::trainer::tensor {

inline torch::Tensor generator_state(torch::Device device) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

inline void set_generator_state(torch::Device device, const torch::Tensor& state) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  generator.set_state(state);
}

}  // namespace shardlens::trainer::tensor
