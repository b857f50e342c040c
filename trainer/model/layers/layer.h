// What layers of a model have in common. The training thread.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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
  // Makes a module and registers it.
  template <typename Part, typename... Arguments>
  std::shared_ptr<Part> add(const char* name, Arguments&&... arguments) {
    return register_module(name, std::make_shared<Part>(std::forward<Arguments>(arguments)...));
  }

  virtual torch::Tensor compute(const torch::Tensor& input) = 0;

 private:
  Forward forward_ = [this](const torch::Tensor& input) { return compute(input); };
};

// A list of this name of a model's blocks, each of which `make` makes of its number.
template <typename Make>
std::vector<std::shared_ptr<Layer>> add_blocks(torch::nn::Module& parent, const char* name,
                                               std::int64_t count, Make make) {
  const auto list = parent.register_module(name, std::make_shared<torch::nn::Module>());
  std::vector<std::shared_ptr<Layer>> blocks;
  for (std::int64_t i = 0; i < count; ++i) {
    blocks.push_back(list->register_module(std::to_string(i), make(i)));
  }
  return blocks;
}

}  // namespace shardlens::trainer::model
