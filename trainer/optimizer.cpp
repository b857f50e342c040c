#include "trainer/optimizer.h"

#include <vector>

#include "trainer/adamw.h"
#include "trainer/sgd.h"

namespace shardlens::trainer {

namespace {

std::vector<torch::Tensor> local_gradients(const Strategy& strategy) {
  std::vector<torch::Tensor> gradients;
  for (const LocalParameter& parameter : strategy.local_parameters()) {
    if (!parameter.is_optimized || !parameter.value.grad().defined()) continue;
    gradients.push_back(parameter.value.grad());
  }
  return gradients;
}

}  // namespace

std::unique_ptr<Optimizer> build_optimizer(std::span<const LocalParameter> parameters,
                                           const trace::Settings& s) {
  if (s.optimizer == "sgd") return std::make_unique<Sgd>(parameters, s.weight_decay);
  return std::make_unique<AdamW>(
      parameters, AdamWOptions{s.adam_beta1, s.adam_beta2, s.adam_epsilon, s.weight_decay});
}

torch::Tensor clip_gradients(Strategy& strategy, double limit) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> gradients = local_gradients(strategy);
  // A rank may hold no part of any gradient, yet takes part in the sum.
  const torch::Tensor own =
      gradients.empty()
          ? torch::zeros({1})
          : at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients, 2)), 2).square().view(1);
  const torch::Tensor norm = strategy.sum_over_shards(own).sqrt().squeeze(0);
  gradients = local_gradients(strategy);
  if (limit > 0 && !gradients.empty()) {
    // The 1e-6 is PyTorch's.
    const auto scale = (limit / (norm + 1e-6)).clamp_max(1.0);
    at::_foreach_mul_(gradients, scale.to(gradients.front().device()));
  }
  return norm;
}

}  // namespace shardlens::trainer
