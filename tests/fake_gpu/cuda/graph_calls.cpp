// CUDA's calls about graphs and capturing them.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <utility>

#include "tests/fake_gpu/cuda/capture.h"
#include "tests/fake_gpu/cuda/device.h"
#include "tests/fake_gpu/cupti/activity.h"
#include "tests/fake_gpu/cupti/cupti_callbacks.h"

using namespace shardlens::fake_gpu;

namespace {

Graph* graph_of(void* handle) { return static_cast<Graph*>(handle); }

cudaGraphNode_t handle_of(const Node* node) {
  return reinterpret_cast<cudaGraphNode_t>(const_cast<Node*>(node));
}

// What a caller gets who gives room for `count` handles, or none to ask how many there are.
template <typename Nodes>
cudaError_t give(const Nodes& nodes, cudaGraphNode_t* handles, std::size_t* count) {
  if (handles == nullptr) {
    *count = nodes.size();
    return cudaSuccess;
  }
  *count = std::min(*count, nodes.size());
  for (std::size_t i = 0; i < *count; ++i) handles[i] = handle_of(&*nodes[i]);
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return failed(begin_capture(stream_of(stream), mode));
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  std::unique_ptr<Graph> captured;
  const cudaError_t error = end_capture(stream_of(stream), captured);
  *graph = reinterpret_cast<cudaGraph_t>(captured.release());
  return failed(error);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = capture_state(stream_of(stream)).status;
  return cudaSuccess;
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, std::size_t* count) {
  // Until the thread's next call, as with CUDA.
  static thread_local std::vector<cudaGraphNode_t> nodes;
  const CaptureState state = capture_state(stream_of(stream));
  nodes.clear();
  for (const Node* node : state.dependencies) nodes.push_back(handle_of(node));
  *status = state.status;
  if (id != nullptr) *id = state.id;
  if (graph != nullptr) *graph = reinterpret_cast<cudaGraph_t>(const_cast<Graph*>(state.graph));
  if (dependencies != nullptr) *dependencies = nodes.data();
  if (edges != nullptr) *edges = nullptr;
  if (count != nullptr) *count = nodes.size();
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  *mode = exchange_capture_mode(*mode);
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return give(graph_of(graph)->nodes, nodes, count);
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies,
                                         cudaGraphEdgeData*, std::size_t* count) {
  return give(reinterpret_cast<const Node*>(node)->dependencies, dependencies, count);
}
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t, const char*, unsigned) {
  return failed(cudaErrorNotSupported);
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  destroy_graph(std::unique_ptr<Graph>(graph_of(graph)));
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                          unsigned long long) {
  *executable = reinterpret_cast<cudaGraphExec_t>(instantiate(*graph_of(graph)).release());
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(executable, graph, flags);
}
// The new work for the old nodes, one for one in the order of their creation.
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result) {
  tell_of_call(CUPTI_RUNTIME_TRACE_CBID_cudaGraphExecUpdate_v10020, "cudaGraphExecUpdate");
  const bool is_done = update(*graph_of(executable), *graph_of(graph));
  result->result = is_done ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged;
  return is_done ? cudaSuccess : failed(cudaErrorGraphExecUpdateFailure);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  launch_graph(*graph_of(executable), stream_of(stream));
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  destroy_graph(std::unique_ptr<Graph>(graph_of(executable)));
  return cudaSuccess;
}

}  // extern "C"
