// What layers of a model have in common. The training thread.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <functional>
#include <utility>

namespace shardlens::trainer::model {

// Where the parameters of a layer lie. Without memory they have sizes and a device; a strategy
// gives them memory, or shards of it, and values from a ParameterSource.
struct ParameterPlace {
  ParameterPlace(torch::Device on) : device(on) {}
  ParameterPlace(torch::Device on, bool with_memory) : device(on), has_memory(with_memory) {}
  torch::Device device;
  bool has_memory = true;
};

// A module of a model that turns one tensor into one, and lets others step in around its forward:
// sharding gathers its parameters first, recomputation drops its activations.
class Layer : public torch::nn::Module {
 public:
  using Forward = std::function<torch::Tensor(const torch::Tensor&)>;
  // Gets the input and what it stands around; must call that exactly once.
  using Wrapper = std::function<torch::Tensor(const torch::Tensor& input, const Forward& inner)>;

  torch::Tensor forward(const torch::Tensor& input) { return forward_(input); }

  // Wrappers of the same layer nest: the last one added is the outermost.
  void wrap_forward(Wrapper wrapper) {
    forward_ = [wrapper = std::move(wrapper), inner = std::move(forward_)](
                   const torch::Tensor& input) { return wrapper(input, inner); };
  }

 protected:
  virtual torch::Tensor compute(const torch::Tensor& input) = 0;

 private:
  Forward forward_ = [this](const torch::Tensor& input) { return compute(input); };
};

}  // namespace shardlens::trainer::model
