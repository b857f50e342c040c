#include "tests/fake_gpu/cupti/cupti_callbacks.h"

#include <mutex>
#include <set>
#include <utility>

namespace shardlens::fake_gpu {
namespace {

struct Subscription {
  std::mutex mutex;
  CUpti_CallbackFunc callback = nullptr;
  void* argument = nullptr;
  std::set<std::pair<CUpti_CallbackDomain, CUpti_CallbackId>> wanted;
};
Subscription& subscription() {
  static auto* instance = new Subscription;  // used until the process has ended
  return *instance;
}

void tell(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  CUpti_CallbackFunc callback = nullptr;
  void* argument = nullptr;
  {
    const std::lock_guard lock(subscription().mutex);
    if (!subscription().wanted.contains({domain, id})) return;
    callback = subscription().callback;
    argument = subscription().argument;
  }
  if (callback != nullptr) callback(argument, domain, id, data);
}

template <typename Handle, typename Object>
Handle handle_of(const Object* object) {
  return reinterpret_cast<Handle>(const_cast<Object*>(object));
}

}  // namespace

void tell_of_node(CUpti_CallbackIdResource what, const Graph& graph, const Node& node,
                  const Graph* original_graph, const Node* original) {
  CUpti_GraphData data{};
  data.graph = handle_of<CUgraph>(&graph);
  data.originalGraph = handle_of<CUgraph>(original_graph);
  data.node = handle_of<CUgraphNode>(&node);
  data.originalNode = handle_of<CUgraphNode>(original);
  data.nodeType = node.type;
  CUpti_ResourceData resource{};
  resource.resourceDescriptor = &data;
  tell(CUPTI_CB_DOMAIN_RESOURCE, what, &resource);
}

void tell_of_call(CUpti_CallbackId call, const char* name) {
  CUpti_CallbackData data{};
  data.callbackSite = CUPTI_API_ENTER;
  data.functionName = name;
  tell(CUPTI_CB_DOMAIN_RUNTIME_API, call, &data);
}

}  // namespace shardlens::fake_gpu

using namespace shardlens::fake_gpu;

extern "C" {

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                           void* argument) {
  const std::lock_guard lock(subscription().mutex);
  if (subscription().callback != nullptr) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  subscription().callback = callback;
  subscription().argument = argument;
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&subscription());
  return CUPTI_SUCCESS;
}
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  const std::lock_guard lock(subscription().mutex);
  subscription().callback = nullptr;
  subscription().wanted.clear();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  const std::lock_guard lock(subscription().mutex);
  if (enable != 0) {
    subscription().wanted.insert({domain, id});
  } else {
    subscription().wanted.erase({domain, id});
  }
  return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableDomain(std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain) {
  return CUPTI_ERROR_NOT_SUPPORTED;
}
CUptiResult cuptiGetGraphNodeId(CUgraphNode node, std::uint64_t* id) {
  if (node == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *id = reinterpret_cast<const Node*>(node)->id;
  return CUPTI_SUCCESS;
}

}  // extern "C"
