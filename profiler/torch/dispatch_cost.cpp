#include "profiler/torch/dispatch_cost.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "profiler/callback_cost.h"

namespace shardlens::profiler {
namespace {

constexpr int kRounds = 15;
constexpr int kCallsPerRound = 100;

// LibTorch's callbacks are plain functions. Other threads of a program may work meanwhile.
thread_local std::int64_t observed = 0;

std::unique_ptr<at::ObserverContext> count_one(const at::RecordFunction&) {
  ++observed;
  return nullptr;
}

void do_nothing(const at::RecordFunction&, at::ObserverContext*) {}

// The median of many rounds: not those in which somebody else had the processor, and not the one in
// which everything was at hand, as it never is in a job.
class Rounds {
 public:
  void run(at::Tensor& tensor) {
    const std::int64_t start = CallbackCost::clock_now_ns();
    for (int i = 0; i < kCallsPerRound; ++i) tensor.zero_();
    times_.push_back(CallbackCost::clock_now_ns() - start);
  }
  std::int64_t median_ns() {
    const auto middle = times_.begin() + kRounds / 2;
    std::nth_element(times_.begin(), middle, times_.end());
    return *middle;
  }

 private:
  std::vector<std::int64_t> times_;
};

}  // namespace

double dispatch_cost_ns() {
  at::Tensor tensor = at::zeros({1});
  const auto callback =
      at::addGlobalCallback(at::RecordFunctionCallback(&count_one, &do_nothing)
                                .scopes({at::RecordScope::FUNCTION, at::RecordScope::USER_SCOPE}));
  observed = 0;
  Rounds with, without;
  for (int round = 0; round < kRounds; ++round) {
    at::reenableCallback(callback);
    with.run(tensor);
    at::disableCallback(callback);
    without.run(tensor);
  }
  at::removeCallback(callback);
  const double per_round = static_cast<double>(observed) / kRounds;
  if (per_round <= 0) return 0;
  return std::max<double>(0,
                          static_cast<double>(with.median_ns() - without.median_ns()) / per_round);
}

}  // namespace shardlens::profiler
