// Plain stochastic gradient descent: no momentum, no state. The training thread.
#pragma once

#include "trainer/optimizer.h"

namespace shardlens::trainer {

class Sgd final : public Optimizer {
 public:
  // `weight_decay` is added to the gradient, as torch.optim.SGD does; matrices decay.
  Sgd(std::span<const LocalParameter> parameters, double weight_decay);

  void step(std::span<const std::size_t> parameters, double learning_rate,
            const torch::Tensor& skip = {}) override;

 private:
  std::vector<LocalParameter> parameters_;
  double weight_decay_;
};

}  // namespace shardlens::trainer
