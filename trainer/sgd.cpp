#include "trainer/sgd.h"

namespace shardlens::trainer {

Sgd::Sgd(std::span<const LocalParameter> parameters, double weight_decay)
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

}  // namespace shardlens::trainer
