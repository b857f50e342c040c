#include "profiler/cupti/graphs/graph_watch.h"

#include <array>

namespace shardlens::profiler::cupti {
namespace {

thread_local CapturedLaunch marked_launch;

// Calls that change what kernels of a graph do once it was built; then it cannot be said any more
// which collective one is. Callbacks of the runtime and of the driver, since a CUPTI may leave out
// those of the driver's functions that the runtime calls.
constexpr std::array kDriverChanges{
    CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate,
    CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2,
    CUPTI_DRIVER_TRACE_CBID_cuGraphKernelNodeSetParams,
    CUPTI_DRIVER_TRACE_CBID_cuGraphKernelNodeSetParams_v2,
    CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetParams,
    CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams,
    CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2,
    CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams,
    CUPTI_DRIVER_TRACE_CBID_cuGraphExecChildGraphNodeSetParams,
};
constexpr std::array kRuntimeChanges{
    CUPTI_RUNTIME_TRACE_CBID_cudaGraphExecUpdate_v10020,
    CUPTI_RUNTIME_TRACE_CBID_cudaGraphKernelNodeSetParams_v10000,
    CUPTI_RUNTIME_TRACE_CBID_cudaGraphNodeSetParams_v12020,
    CUPTI_RUNTIME_TRACE_CBID_cudaGraphExecKernelNodeSetParams_v10010,
    CUPTI_RUNTIME_TRACE_CBID_cudaGraphExecNodeSetParams_v12020,
    CUPTI_RUNTIME_TRACE_CBID_cudaGraphExecChildGraphNodeSetParams_v11010,
};

}  // namespace

void GraphWatch::mark_launch(const CapturedLaunch& launch) { marked_launch = launch; }

std::string GraphWatch::start() {
  if (api_.subscribe == nullptr || api_.unsubscribe == nullptr || api_.enable_callback == nullptr ||
      api_.get_graph_node_id == nullptr)
    return "it has no callbacks for them";
  CUptiResult result = api_.subscribe(&subscriber_, on_callback, this);
  if (result != CUPTI_SUCCESS) {
    subscriber_ = nullptr;
    return result_text(api_, result);
  }
  result = want_callbacks();
  if (result == CUPTI_SUCCESS) return "";
  stop();
  return result_text(api_, result);
}

void GraphWatch::stop() {
  if (subscriber_ != nullptr) static_cast<void>(api_.unsubscribe(subscriber_));
  subscriber_ = nullptr;
}

CUptiResult GraphWatch::want_callbacks() {
  for (const auto what :
       {CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED}) {
    const CUptiResult result = api_.enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE, what);
    if (result != CUPTI_SUCCESS) return result;
  }
  // An older CUPTI does not know the newest, nor do programs of its time.
  for (const auto call : kDriverChanges)
    static_cast<void>(api_.enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, call));
  for (const auto call : kRuntimeChanges)
    static_cast<void>(api_.enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_RUNTIME_API, call));
  return CUPTI_SUCCESS;
}

void GraphWatch::on_callback(void* watch, CUpti_CallbackDomain domain, CUpti_CallbackId what,
                             const void* data) {
  auto& own = *static_cast<GraphWatch*>(watch);
  if (domain != CUPTI_CB_DOMAIN_RESOURCE) return own.nodes_.forget_all();
  const auto* resource = static_cast<const CUpti_ResourceData*>(data);
  if (resource->resourceDescriptor != nullptr)
    own.add_node(what, *static_cast<const CUpti_GraphData*>(resource->resourceDescriptor));
}

void GraphWatch::add_node(CUpti_CallbackId what, const CUpti_GraphData& graph) {
  if (graph.nodeType != CU_GRAPH_NODE_TYPE_KERNEL) return;
  // What is instantiated is created as well, but within no launch.
  const bool is_captured =
      what == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED && marked_launch.launch != 0;
  const bool is_clone = what == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED;
  std::uint64_t node = 0, original = 0;
  if ((!is_captured && !is_clone) || api_.get_graph_node_id(graph.node, &node) != CUPTI_SUCCESS)
    return;
  if (is_captured) {
    nodes_.created(node, marked_launch);
  } else if (api_.get_graph_node_id(graph.originalNode, &original) == CUPTI_SUCCESS) {
    nodes_.cloned(node, original);
  }
}

}  // namespace shardlens::profiler::cupti
