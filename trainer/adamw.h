// AdamW over all parameters at once. The training thread.
#pragma once

#include <vector>

#include "trainer/optimizer.h"

namespace shardlens::trainer {

struct AdamWOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
};

class AdamW final : public Optimizer {
 public:
  AdamW(std::span<const LocalParameter> parameters, const AdamWOptions& options);

  void step(std::span<const std::size_t> parameters, double learning_rate,
            const torch::Tensor& skip = {}) override;
  OptimizerState state_of(std::size_t parameter) const override { return states_[parameter]; }

 private:
  void step(std::span<const std::size_t> parameters, double learning_rate,
            const torch::Tensor& skip, bool decays);

  std::vector<LocalParameter> parameters_;
  std::vector<OptimizerState> states_;
  AdamWOptions options_;
};

}  // namespace shardlens::trainer
