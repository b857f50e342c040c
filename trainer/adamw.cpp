#include "trainer/adamw.h"

namespace shardlens::trainer {

AdamW::AdamW(const std::vector<torch::Tensor>& parameters, const AdamWOptions& options)
    : options_(options) {
  decayed_.weight_decay = options.weight_decay;
  for (const torch::Tensor& value : parameters) {
    Group& group = value.dim() >= 2 ? decayed_ : plain_;
    group.parameters.push_back(value);
    group.first_moments.push_back(torch::zeros_like(value));
    group.second_moments.push_back(torch::zeros_like(value));
    group.steps.push_back(torch::zeros({}, value.options().dtype(torch::kFloat32)));
  }
}

void AdamW::step(double learning_rate) {
  const torch::NoGradGuard no_grad;
  step(decayed_, learning_rate);
  step(plain_, learning_rate);
}

void AdamW::step(Group& group, double learning_rate) {
  Group active;
  std::vector<torch::Tensor> gradients;
  for (std::size_t i = 0; i < group.parameters.size(); ++i) {
    const torch::Tensor& gradient = group.parameters[i].grad();
    if (!gradient.defined()) continue;
    gradients.push_back(gradient);
    active.parameters.push_back(group.parameters[i]);
    active.first_moments.push_back(group.first_moments[i]);
    active.second_moments.push_back(group.second_moments[i]);
    active.steps.push_back(group.steps[i]);
  }
  if (gradients.empty()) return;
  at::_foreach_add_(active.steps, 1);
  at::_fused_adamw_(active.parameters, gradients, active.first_moments, active.second_moments,
                    /*max_exp_avg_sqs=*/{}, active.steps, learning_rate, options_.beta1,
                    options_.beta2, group.weight_decay, options_.epsilon, /*amsgrad=*/false,
                    /*maximize=*/false);
}

torch::Tensor clip_gradients(const std::vector<torch::Tensor>& parameters, double limit) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> gradients;
  for (const torch::Tensor& parameter : parameters) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  if (gradients.empty()) return torch::zeros({});
  const auto norm = at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients, 2)), 2);
  if (limit > 0) {
    // The 1e-6 is PyTorch's.
    at::_foreach_mul_(gradients, (limit / (norm + 1e-6)).clamp_max(1.0));
  }
  return norm;
}

}  // namespace shardlens::trainer
