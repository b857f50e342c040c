// How much longer LibTorch itself takes for an operator once anybody observes operators, without
// what the observer does. Any thread.
#pragma once

namespace shardlens::profiler::pytorch {

struct DispatchCost {
  double operator_ns = 0;
  // Of a node that autograd evaluates, whose name LibTorch puts together each time.
  double node_ns = 0;
};

// Measured on small steps of training, some milliseconds: operators as jobs have them, since one
// that does nothing, called in a row, costs a third.
DispatchCost measure_dispatch_cost();

// What LibTorch names the nodes' spans.
inline constexpr const char* kNodePrefix = "autograd::engine::evaluate_function";

}  // namespace shardlens::profiler::pytorch
