// The state of the default generator of a device, from which dropout draws. The training thread and
// autograd's.
#pragma once

#include <torch/types.h>

namespace shardlens::trainer::tensor {

torch::Tensor generator_state(torch::Device device);
void set_generator_state(torch::Device device, const torch::Tensor& state);

}  // namespace shardlens::trainer::tensor
