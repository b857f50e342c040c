// A strategy of one rank that keeps every parameter whole. For tests.
#pragma once

#include <string>
#include <vector>

#include "trainer/strategy/strategy.h"

namespace shardlens::trainer {

class FakeStrategy final : public strategy::Strategy {
 public:
  explicit FakeStrategy(const std::vector<torch::Tensor>& parameters) {
    for (const torch::Tensor& each : parameters) {
      local_.push_back({"parameter " + std::to_string(local_.size()), each.sizes().vec(), 0,
                        each.numel(), each});
    }
  }

  std::vector<std::size_t> all() const { return strategy::optimized_parameters(local_); }

  void set_require_sync(bool) override {}
  void before_forward() override {}
  void before_backward(const torch::Tensor&) override {}
  void after_backward() override {}
  std::span<const strategy::LocalParameter> local_parameters() const override { return local_; }
  void update(const Optimize& optimize) override { optimize(all()); }
  void zero_gradients() override {}

 private:
  std::vector<strategy::LocalParameter> local_;
};

}  // namespace shardlens::trainer
