// How a model is made. Plain values.
#pragma once

#include <torch/torch.h>

#include <cstdint>

namespace shardlens::trainer::model {

// Where the parameters of a layer lie. Without memory they have sizes and a device; a strategy
// gives them memory, or shards of it, and values from a ParameterSource.
struct ParameterPlace {
  ParameterPlace(torch::Device on) : device(on) {}
  ParameterPlace(torch::Device on, bool with_memory) : device(on), has_memory(with_memory) {}
  torch::Device device;
  bool has_memory = true;
};

struct ModelOptions {
  double dropout = 0;
  std::uint64_t seed = 0;
  torch::Device device = torch::kCPU;
  // False: parameters have no memory and no values.
  bool has_memory = true;

  ParameterPlace place() const { return {device, has_memory}; }
};

}  // namespace shardlens::trainer::model
