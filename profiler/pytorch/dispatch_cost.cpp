#include "profiler/pytorch/dispatch_cost.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "profiler/recorder/recorder.h"
#include "trace/base/median.h"

namespace shardlens::profiler::pytorch {
namespace {

constexpr int kRounds = 15;
constexpr int kLayers = 10;

// LibTorch's callbacks are plain functions. Other threads of a program may work meanwhile.
struct Observed {
  int operators = 0, nodes = 0;
};
thread_local Observed observed;

std::unique_ptr<at::ObserverContext> count_one(const at::RecordFunction& function) {
  ++(std::string_view(function.name()).starts_with(kNodePrefix) ? observed.nodes
                                                                : observed.operators);
  return nullptr;
}

std::unique_ptr<at::ObserverContext> begin_nothing(const at::RecordFunction&) { return nullptr; }
void end_nothing(const at::RecordFunction&, at::ObserverContext*) {}

at::RecordFunctionCallback observer(at::RecordFunctionCallback::StartCallback start) {
  return at::RecordFunctionCallback(start, &end_nothing)
      .scopes({at::RecordScope::FUNCTION, at::RecordScope::USER_SCOPE});
}

// So small that hardly anything but the operators' launch takes time.
class SmallTraining {
 public:
  at::Tensor forward() const {
    at::Tensor values = input_;
    for (int i = 0; i < kLayers; ++i) values = at::mm(values, weight_).add(bias_).tanh();
    return values;
  }
  void step() {
    weight_.mutable_grad() = at::Tensor();
    bias_.mutable_grad() = at::Tensor();
    forward().sum().backward();
  }

 private:
  at::Tensor input_ = at::ones({2, 4});
  at::Tensor weight_ = at::ones({4, 4}).requires_grad_();
  at::Tensor bias_ = at::ones({4}).requires_grad_();
};

template <typename Work>
Observed count(Work&& work) {
  const auto callback = at::addGlobalCallback(observer(&count_one));
  observed = {};
  work();
  at::removeCallback(callback);
  return observed;
}

// By how much `work` takes longer while it is observed. Medians of many rounds: not those in which
// somebody else had the processor, and not the one in which everything was at hand, as it never is
// in a job.
template <typename Work>
double slowdown_ns(Work&& work) {
  const auto callback = at::addGlobalCallback(observer(&begin_nothing));
  std::array<std::vector<std::int64_t>, 2> times;
  for (std::size_t round = 0; round < kRounds; ++round) {
    for (const bool is_observed : {true, false}) {
      is_observed ? at::reenableCallback(callback) : at::disableCallback(callback);
      work();  // threads take note of what has changed
      const std::int64_t start = recorder::Recorder::now_ns();
      work();
      times[is_observed].push_back(recorder::Recorder::now_ns() - start);
    }
  }
  at::removeCallback(callback);
  const std::int64_t added =
      trace::base::upper_median(times[true]) - trace::base::upper_median(times[false]);
  return static_cast<double>(std::max<std::int64_t>(added, 0));
}

}  // namespace

DispatchCost measure_dispatch_cost() {
  const at::AutoGradMode with_gradients(true);
  SmallTraining training;
  training.step();
  const auto forward = [&] { training.forward(); };
  const auto step = [&] { training.step(); };
  const Observed of_forward = count(forward), of_step = count(step);
  DispatchCost cost;
  if (of_forward.operators > 0) cost.operator_ns = slowdown_ns(forward) / of_forward.operators;
  if (of_step.nodes > 0) {
    const double operators_ns = cost.operator_ns * of_step.operators;
    cost.node_ns = std::max(slowdown_ns(step) - operators_ns, 0.0) / of_step.nodes;
  }
  return cost;
}

}  // namespace shardlens::profiler::pytorch
