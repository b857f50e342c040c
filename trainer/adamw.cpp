#include "trainer/adamw.h"

#include <optional>

namespace shardlens::trainer {

AdamW::AdamW(std::span<const LocalParameter> parameters, const AdamWOptions& options)
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

}  // namespace shardlens::trainer
