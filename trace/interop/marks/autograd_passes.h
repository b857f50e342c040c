// Forward and backward passes of a program that PyTorch's profiler recorded, and the gradients that
// came in them: from where data parallelism marks forward, and from the nodes of autograd. One
// owner.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/intervals.h"
#include "trace/interop/json/kineto_event.h"
#include "trace/interop/marks/ddp_buckets.h"

namespace shardlens::trace::interop {

inline constexpr std::string_view kAutogradNode = "autograd::engine::evaluate_function: ";
inline constexpr std::string_view kDdpForward = "DistributedDataParallel.forward";

// A backward pass, and the forward passes between the one before and it that it or a later one goes
// through, as of a contrastive loss or in a pipeline: in order, at least one.
struct TrainingPass {
  std::vector<base::Interval> forwards;
  base::Interval backward;
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
  // `is_whole`: else it is only what begins the pass.
  void add_forward(const base::Interval& time, bool is_whole) {
    forwards_.push_back({time, is_whole});
  }
  // Afterwards, once: leaves out those whose times cannot be believed.
  void finish(const std::function<bool(const base::Interval&)>& is_believed);

  // In order. A forward pass without a backward one, of an evaluation, is none; where the trace has
  // no numbers of nodes, of several before a backward pass only the last is one. On the host: a
  // backward pass ends with its last node, before it waits for reductions. After finish().
  std::vector<TrainingPass> passes() const;
  BackwardTimes times() const;  // after finish()

 private:
  struct Forward {
    base::Interval time;
    bool is_whole = true;
  };
  struct Node {
    base::Interval time;
    std::string thread;
    bool is_gradient = false;
  };
  struct Numbered {  // an operator, or a node at work
    std::int64_t number = 0, start_ns = 0;
    auto operator<=>(const Numbered&) const = default;
  };
  void add_number(const KinetoEvent& event);
  void find_makers();
  std::vector<base::Interval> gone_through(std::size_t first, std::size_t last,
                                           std::int64_t backward_ns) const;
  std::vector<DdpGradient> gradients_within(const base::Interval& backward) const;

  std::vector<Forward> forwards_;
  std::vector<Node> nodes_;
  std::vector<DdpGradient> sizes_;  // of gradients, where shapes were recorded
  // Until finish().
  std::map<std::string, std::vector<Numbered>> operators_;  // by thread
  std::vector<Numbered> at_work_;
  // When the operators of forward began whose nodes backward reached, in order.
  std::vector<std::int64_t> makers_ns_;
};

}  // namespace shardlens::trace::interop
