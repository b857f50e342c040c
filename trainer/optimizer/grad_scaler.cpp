#include "trainer/optimizer/grad_scaler.h"

#include <vector>

#include "trainer/optimizer/optimizer.h"

namespace shardlens::trainer::optimizer {

namespace {

constexpr double kGrowth = 2.0, kBackoff = 0.5;  // factors of torch.amp.GradScaler

}  // namespace

GradScaler::GradScaler(const GradScalerOptions& options, torch::Device device) : options_(options) {
  if (!options.enabled) return;
  const auto on_device = torch::TensorOptions().device(device);
  scale_ = torch::full({}, options.initial_scale, on_device.dtype(torch::kFloat32));
  growth_tracker_ = torch::zeros({}, on_device.dtype(torch::kInt32));
  overflowed_ = torch::zeros({}, on_device.dtype(torch::kFloat32));
  skipped_ = torch::zeros({}, on_device.dtype(torch::kFloat64));
}

double GradScaler::scale() const { return scale_.defined() ? scale_.item<double>() : 1; }

GradScalerState GradScaler::state() const {
  if (!options_.enabled) return {};
  return {scale(), growth_tracker_.item<std::int64_t>()};
}

void GradScaler::restore(const GradScalerState& state) {
  if (!options_.enabled) return;
  scale_.fill_(state.scale);
  growth_tracker_.fill_(state.good_steps);
}

torch::Tensor GradScaler::scaled(const torch::Tensor& loss) const {
  return scale_.defined() ? loss * scale_ : loss;
}

void GradScaler::unscale(const strategy::Strategy& strategy, comm::Communicator& communicator) {
  if (!options_.enabled) return;
  const torch::NoGradGuard no_grad;
  const std::vector<torch::Tensor> gradients = local_gradients(strategy);
  overflowed_.zero_();
  // A rank without any part of a gradient takes part in the agreement.
  if (!gradients.empty()) {
    // Offloaded gradients are elsewhere than the loss.
    const auto device = gradients.front().device();
    torch::Tensor found = overflowed_.to(device);
    // In fp32: gradients may be tiny, and the factor is a power of two.
    at::_amp_foreach_non_finite_check_and_unscale_(gradients, found,
                                                   scale_.reciprocal().to(device));
    if (!found.is_same(overflowed_)) overflowed_.copy_(found);
  }
  if (communicator.world_size() > 1) {
    communicator.all_reduce(overflowed_, comm::named_tag("fp16 overflow"), c10d::ReduceOp::MAX)
        ->wait();
  }
}

void GradScaler::update() {
  if (!options_.enabled) return;
  const torch::NoGradGuard no_grad;
  skipped_.add_(overflowed_);
  at::_amp_update_scale_(scale_, growth_tracker_, overflowed_, kGrowth, kBackoff,
                         options_.growth_interval);
}

}  // namespace shardlens::trainer::optimizer
