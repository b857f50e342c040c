// CUPTI's callbacks while a program builds CUDA graphs; there are none when it replays them.
#pragma once

#include <string>

#include "profiler/cupti/api/cupti_api.h"
#include "profiler/cupti/graphs/graph_nodes.h"

namespace shardlens::profiler::cupti {

// Must stay once it is started: CUPTI may call until the process ends.
class GraphWatch {
 public:
  explicit GraphWatch(const CuptiApi& api) : api_(api) {}
  GraphWatch(const GraphWatch&) = delete;
  GraphWatch& operator=(const GraphWatch&) = delete;

  // Before CUPTI is asked for records. "" or why it does not tell of graphs; then it is asked for
  // nothing. One per process.
  std::string start();
  // Where nothing is recorded after all.
  void stop();

  GraphNodes& nodes() { return nodes_; }

  // The launch that is marked on the calling thread, to which kernels belong that are captured on
  // it.
  static void mark_launch(const CapturedLaunch& launch);

 private:
  static void CUPTIAPI on_callback(void* watch, CUpti_CallbackDomain domain, CUpti_CallbackId what,
                                   const void* data);
  CUptiResult want_callbacks();
  void add_node(CUpti_CallbackId what, const CUpti_GraphData& graph);

  const CuptiApi& api_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  GraphNodes nodes_;
};

}  // namespace shardlens::profiler::cupti
