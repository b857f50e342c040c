#include "trainer/grad_scaler.h"

#include <vector>

namespace shardlens::trainer {

GradScaler::GradScaler(const GradScalerOptions& options)
    : options_(options), scale_(options.enabled ? options.initial_scale : 1.0) {}

torch::Tensor GradScaler::scaled(const torch::Tensor& loss) const {
  return options_.enabled ? loss * scale_ : loss;
}

bool GradScaler::unscale(const Strategy& strategy, Communicator& communicator) {
  if (!options_.enabled) return true;
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> gradients;
  for (const LocalParameter& parameter : strategy.local_parameters()) {
    if (parameter.is_optimized && parameter.value.grad().defined()) {
      gradients.push_back(parameter.value.grad());
    }
  }
  // A rank without any part of a gradient takes part in the agreement.
  const auto device = gradients.empty() ? communicator.device() : gradients.front().device();
  torch::Tensor overflowed = torch::zeros({1}, torch::dtype(torch::kFloat32).device(device));
  if (!gradients.empty()) {
    // In fp32: gradients may be tiny, and the factor is a power of two.
    const auto inverse = torch::full({1}, 1.0 / scale_, overflowed.options());
    at::_amp_foreach_non_finite_check_and_unscale_(gradients, overflowed, inverse);
  }
  overflowed = overflowed.to(communicator.device());
  if (communicator.world_size() > 1) {
    communicator
        .all_reduce(overflowed, {trace::TagKind::kNamed, -1, "fp16 overflow"}, c10d::ReduceOp::MAX)
        ->wait();
  }
  return overflowed.item<float>() == 0;
}

void GradScaler::update(bool was_finite) {
  if (!options_.enabled) return;
  if (!was_finite) {
    scale_ *= options_.backoff_factor;
    finite_steps_ = 0;
  } else if (++finite_steps_ == options_.growth_interval) {
    scale_ *= options_.growth_factor;
    finite_steps_ = 0;
  }
}

}  // namespace shardlens::trainer
