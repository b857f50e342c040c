#include "trainer/sgd.h"

namespace shardlens::trainer {

Sgd::Sgd(std::span<const LocalParameter> parameters, double weight_decay)
    : parameters_(parameters.begin(), parameters.end()), weight_decay_(weight_decay) {}

void Sgd::step(std::span<const std::size_t> parameters, double learning_rate) {
  const torch::NoGradGuard no_grad;
  for (const std::size_t i : parameters) {
    const torch::Tensor& value = parameters_[i].value;
    if (!value.grad().defined()) continue;
    if (parameters_[i].decays()) value.mul_(1 - learning_rate * weight_decay_);
    value.sub_(value.grad(), learning_rate);
  }
}

}  // namespace shardlens::trainer
