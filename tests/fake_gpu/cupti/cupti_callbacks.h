// CUPTI's callbacks: whoever subscribed is told of graphs while they are built. Any thread.
#pragma once

#include <cupti.h>

#include "tests/fake_gpu/cuda/graph.h"

namespace shardlens::fake_gpu {

// `original`: what it was cloned from.
void tell_of_node(CUpti_CallbackIdResource what, const Graph& graph, const Node& node,
                  const Graph* original_graph = nullptr, const Node* original = nullptr);
// A call of CUDA's runtime begins.
void tell_of_call(CUpti_CallbackId call, const char* name);

}  // namespace shardlens::fake_gpu
