// Keeps small fp16 gradients from vanishing: the loss is multiplied by a factor that gradients are
// divided by again; where they overflowed on any rank, all ranks skip the step and lower the
// factor. The training thread.
#pragma once

#include <torch/torch.h>

#include <cstdint>

#include "trainer/comm/communicator.h"
#include "trainer/strategy/strategy.h"

namespace shardlens::trainer {

// Factors and interval are those of torch.amp.GradScaler.
struct GradScalerOptions {
  bool enabled = true;  // false: the factor is 1 and nothing is checked
  double initial_scale = 65536;
  double growth_factor = 2.0;
  double backoff_factor = 0.5;
  std::int64_t growth_interval = 2000;  // steps without overflow until the factor grows
};

class GradScaler {
 public:
  explicit GradScaler(const GradScalerOptions& options);

  double scale() const { return scale_; }
  void set_scale(double scale) {
    if (options_.enabled) scale_ = scale;
  }
  torch::Tensor scaled(const torch::Tensor& loss) const;
  // Divides the gradients by the factor, after the last backward of a step. False: one of them was
  // not finite on some rank; all ranks get the same answer. Throws if the collective fails.
  bool unscale(const Strategy& strategy, Communicator& communicator);
  // Adapts the factor to the answer. Once per step.
  void update(bool was_finite);

 private:
  GradScalerOptions options_;
  double scale_ = 1;
  std::int64_t finite_steps_ = 0;
};

}  // namespace shardlens::trainer
