#include "trainer/optimizer/optimizer.h"

#include <optional>
#include <vector>

namespace shardlens::trainer::optimizer {

Sgd::Sgd(std::span<const strategy::LocalParameter> parameters, double weight_decay)
    : parameters_(parameters.begin(), parameters.end()), weight_decay_(weight_decay) {}

void Sgd::step(std::span<const std::size_t> parameters, double learning_rate,
               const torch::Tensor& skip) {
  const torch::NoGradGuard no_grad;
  for (const std::size_t i : parameters) {
    const torch::Tensor& value = parameters_[i].value;
    if (!value.grad().defined()) continue;
    const double kept = parameters_[i].decays() ? 1 - learning_rate * weight_decay_ : 1;
    if (skip.defined()) {
      // A product would not do: zero times what overflowed is not a number.
      const torch::Tensor updated = value * kept - learning_rate * value.grad();
      value.copy_(torch::where(skip.to(value.device(), torch::kBool), value, updated));
      continue;
    }
    if (kept != 1) value.mul_(kept);
    value.sub_(value.grad(), learning_rate);
  }
}

AdamW::AdamW(std::span<const strategy::LocalParameter> parameters, const AdamWOptions& options)
    : parameters_(parameters.begin(), parameters.end()),
      states_(parameters.size()),
      options_(options) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].is_optimized) continue;
    const torch::Tensor value = parameters_[i].value.detach();
    states_[i] = {torch::zeros_like(value), torch::zeros_like(value),
                  torch::zeros({}, value.options().dtype(torch::kFloat32))};
  }
}

void AdamW::step(std::span<const std::size_t> parameters, double learning_rate,
                 const torch::Tensor& skip) {
  const torch::NoGradGuard no_grad;
  step(parameters, learning_rate, skip, true);
  step(parameters, learning_rate, skip, false);
}

void AdamW::step(std::span<const std::size_t> parameters, double learning_rate,
                 const torch::Tensor& skip, bool decays) {
  std::vector<torch::Tensor> values, gradients, first_moments, second_moments, steps;
  for (const std::size_t i : parameters) {
    const torch::Tensor& value = parameters_[i].value;
    if (parameters_[i].decays() != decays || !value.grad().defined()) continue;
    values.push_back(value);
    gradients.push_back(value.grad());
    first_moments.push_back(states_[i].first_moment);
    second_moments.push_back(states_[i].second_moment);
    steps.push_back(states_[i].steps);
  }
  if (values.empty()) return;
  std::optional<torch::Tensor> found_inf;
  if (skip.defined()) found_inf = skip.to(values.front().device());
  at::_foreach_add_(steps, 1);
  at::_fused_adamw_(values, gradients, first_moments, second_moments, /*max_exp_avg_sqs=*/{}, steps,
                    learning_rate, options_.beta1, options_.beta2,
                    decays ? options_.weight_decay : 0.0, options_.epsilon, /*amsgrad=*/false,
                    /*maximize=*/false, /*grad_scale=*/{}, found_inf);
  // A skipped update does not count.
  if (found_inf) {
    at::_foreach_sub_(steps, std::vector<torch::Tensor>(steps.size(), *found_inf));
  }
}

std::vector<torch::Tensor> local_gradients(const strategy::Strategy& strategy) {
  std::vector<torch::Tensor> gradients;
  for (const strategy::LocalParameter& parameter : strategy.local_parameters()) {
    if (!parameter.is_optimized || !parameter.value.grad().defined()) continue;
    gradients.push_back(parameter.value.grad());
  }
  return gradients;
}

std::unique_ptr<Optimizer> build_optimizer(std::span<const strategy::LocalParameter> parameters,
                                           const trace::job::Settings& s) {
  if (s.optimizer == trace::job::OptimizerChoice::kSgd)
    return std::make_unique<Sgd>(parameters, s.weight_decay);
  return std::make_unique<AdamW>(
      parameters, AdamWOptions{s.adam_beta1, s.adam_beta2, s.adam_epsilon, s.weight_decay});
}

torch::Tensor clip_gradients(strategy::Strategy& strategy, double limit) {
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

}  // namespace shardlens::trainer::optimizer
