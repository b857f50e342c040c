// Keeps small fp16 gradients from vanishing: the loss is multiplied by a factor that gradients are
// divided by again; where they overflowed on any rank, all ranks skip the step and lower the
// factor. Everything is decided on the device, so that nobody waits for it. The training thread.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "trainer/comm/communicator.h"
#include "trainer/strategy/strategy.h"

namespace shardlens::trainer::optimizer {

// As torch.amp.GradScaler's.
struct GradScalerOptions {
  bool enabled = true;  // false: the factor is 1 and nothing is checked
  double initial_scale = 65536;
  std::int64_t growth_interval = 2000;  // steps without overflow until the factor grows
};

// What a run that goes on begins with.
struct GradScalerState {
  double scale = 1;
  std::int64_t good_steps = 0;  // without overflow since the factor last changed
};

class GradScaler {
 public:
  explicit GradScaler(const GradScalerOptions& options, torch::Device device = torch::kCPU);

  bool enabled() const { return options_.enabled; }
  // Waits for the device.
  double scale() const;
  GradScalerState state() const;
  void restore(const GradScalerState& state);
  // The factor, a scalar in fp32 on the device; undefined if off.
  const torch::Tensor& scale_tensor() const { return scale_; }

  torch::Tensor scaled(const torch::Tensor& loss) const;
  // Divides the gradients by the factor, after the last backward of a step, and finds out whether
  // one of them was not finite on some rank. Throws if the collective fails.
  void unscale(const strategy::Strategy& strategy, comm::Communicator& communicator);
  // What unscale() found, the same on all ranks: a scalar in fp32 on the device, 1 if the step must
  // be skipped, else 0; undefined if off.
  const torch::Tensor& overflowed() const { return overflowed_; }
  // Adapts the factor to what was found. Once per step.
  void update();
  // Steps that were skipped so far, a scalar in fp64 on the device; undefined if off.
  const torch::Tensor& skipped_steps() const { return skipped_; }

 private:
  GradScalerOptions options_;
  torch::Tensor scale_, growth_tracker_, overflowed_, skipped_;
};

}  // namespace shardlens::trainer::optimizer
