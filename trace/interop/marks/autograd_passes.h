// Forward and backward passes of a program that PyTorch's profiler recorded, and the gradients that
// came in them: from where data parallelism marks forward, and from the nodes of autograd. One
// owner.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/intervals.h"
#include "trace/interop/json/kineto_event.h"
#include "trace/interop/marks/ddp_buckets.h"

namespace shardlens::trace::interop {

inline constexpr std::string_view kAutogradNode = "autograd::engine::evaluate_function: ";
inline constexpr std::string_view kDdpForward = "DistributedDataParallel.forward";

// A forward pass, and the backward pass that follows it.
struct TrainingPass {
  base::Interval forward, backward;
  std::string backward_thread;  // as in the trace
  std::vector<DdpGradient> gradients;
};

// When autograd worked, whether or not a forward pass is marked.
struct BackwardTimes {
  base::Intervals nodes;                   // on whatever thread
  std::vector<std::int64_t> gradients_ns;  // when each began to be accumulated, in order
};

class AutogradPasses {
 public:
  // Takes what it looks for.
  void add(const KinetoEvent& event);
  void add_forward(const base::Interval& forward) { forwards_.push_back(forward); }
  // Afterwards, once: leaves out those whose times cannot be believed.
  void finish(const std::function<bool(const base::Interval&)>& is_believed);

  // In order. A forward pass without a backward one, of an evaluation, is none. On the host: a
  // backward pass ends with its last node, before it waits for reductions. After finish().
  std::vector<TrainingPass> passes() const;
  BackwardTimes times() const;  // after finish()

 private:
  struct Node {
    base::Interval time;
    std::string thread;
    bool is_gradient = false;
  };
  std::vector<DdpGradient> gradients_within(const base::Interval& backward) const;

  std::vector<base::Interval> forwards_;
  std::vector<Node> nodes_;
  std::vector<DdpGradient> sizes_;  // of gradients, where shapes were recorded
};

}  // namespace shardlens::trace::interop
