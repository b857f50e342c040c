// What PyTorch marks in a Kineto trace of DDP, whoever wrote the program: forward passes, nodes of
// autograd, gradients. One owner.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/intervals.h"
#include "trace/interop/ddp_buckets.h"
#include "trace/interop/kineto_event.h"

namespace shardlens::trace::interop {

inline constexpr std::string_view kDdpForward = "DistributedDataParallel.forward";

// A forward pass, and the backward pass that follows it.
struct DdpPass {
  base::Interval forward, backward;
  std::string backward_thread;  // as in the trace
  std::vector<DdpGradient> gradients;
};

class DdpMarks {
 public:
  // Takes what it looks for.
  void add(const KinetoEvent& event);
  // Afterwards, once: leaves out those whose times cannot be believed.
  void finish(const std::function<bool(const base::Interval&)>& is_believed);

  bool is_ddp() const { return !forwards_.empty(); }
  bool has_sizes() const { return !sizes_.empty(); }
  // In order. A forward pass without a backward one, of an evaluation, is none. On the host: a
  // backward pass ends with its last node, before it waits for reductions. After finish().
  std::vector<DdpPass> passes() const;

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
