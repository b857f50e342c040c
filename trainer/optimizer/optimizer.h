// What turns gradients into new values. The training thread.
#pragma once

#include <torch/types.h>

#include <memory>
#include <span>
#include <vector>

#include "trace/job/settings/settings.h"
#include "trainer/strategy/strategy.h"

namespace shardlens::trainer::optimizer {

// What an optimizer remembers of one parameter; undefined where it remembers nothing.
struct OptimizerState {
  torch::Tensor first_moment, second_moment;  // as the parameter's local value
  torch::Tensor steps;                        // fp32 scalar: updates so far
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // One update of these parameters, by their indices; those without a gradient are left alone. If
  // `skip` is defined, a scalar in fp32, nothing changes where it is 1: the device decides, and the
  // host need not know.
  virtual void step(std::span<const std::size_t> parameters, double learning_rate,
                    const torch::Tensor& skip = {}) = 0;
  // The tensors themselves, so that they can be restored.
  virtual OptimizerState state_of(std::size_t /*parameter*/) const { return {}; }
};

// Allocates the whole state, for the parameters that are optimized here.
std::unique_ptr<Optimizer> build_optimizer(std::span<const strategy::LocalParameter> parameters,
                                           const trace::job::Settings& settings);

// The gradients of the parameters that this rank updates, as far as they have one.
std::vector<torch::Tensor> local_gradients(const strategy::Strategy& strategy);
// The total 2-norm of all gradients, a scalar tensor. Scales them down to `limit` as
// torch.nn.utils.clip_grad_norm_ does; 0 only measures. All ranks call it once per step.
torch::Tensor clip_gradients(strategy::Strategy& strategy, double limit);

// AdamW over all parameters at once.
struct AdamWOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
};

class AdamW final : public Optimizer {
 public:
  AdamW(std::span<const strategy::LocalParameter> parameters, const AdamWOptions& options);

  void step(std::span<const std::size_t> parameters, double learning_rate,
            const torch::Tensor& skip = {}) override;
  OptimizerState state_of(std::size_t parameter) const override { return states_[parameter]; }

 private:
  void step(std::span<const std::size_t> parameters, double learning_rate,
            const torch::Tensor& skip, bool decays);

  std::vector<strategy::LocalParameter> parameters_;
  std::vector<OptimizerState> states_;
  AdamWOptions options_;
};

// Plain stochastic gradient descent: no momentum, no state.
class Sgd final : public Optimizer {
 public:
  // `weight_decay` is added to the gradient, as torch.optim.SGD does; matrices decay.
  Sgd(std::span<const strategy::LocalParameter> parameters, double weight_decay);

  void step(std::span<const std::size_t> parameters, double learning_rate,
            const torch::Tensor& skip = {}) override;

 private:
  std::vector<strategy::LocalParameter> parameters_;
  double weight_decay_;
};

}  // namespace shardlens::trainer::optimizer
