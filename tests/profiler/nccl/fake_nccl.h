// NCCL as a profiler plugin sees it: looks the plugin up and sends it events in NCCL's order. For
// tests.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "profiler/nccl/nccl_events.h"
#include "profiler/nccl/profiler_abi.h"

namespace shardlens::profiler::nccl {

// Stands for CUPTI: which launches were marked, in order, and how deep the marks are nested.
struct FakeMarks {
  static inline thread_local std::vector<std::uint64_t> launches;
  static inline thread_local std::vector<std::uint64_t> told;  // of them, those that NCCL told of
  static inline thread_local std::vector<std::uint64_t> orders;
  static inline thread_local int depth = 0;
  static inline thread_local int deepest = 0;

  static void reset() {
    launches.clear();
    told.clear();
    orders.clear();
    depth = deepest = 0;
  }
  static void begin(std::uint64_t launch, std::uint64_t order) {
    launches.push_back(launch);
    orders.push_back(order);
    deepest = std::max(deepest, ++depth);
  }
  static void end() { --depth; }
  static constexpr LaunchMarker marker() { return {begin, end}; }
};

class FakeNccl {
 public:
  // What a communicator of `ranks` ranks does, `rank` being this process.
  FakeNccl(std::uint64_t hash, int ranks, int rank, const char* name = nullptr)
      : plugin_(static_cast<const nccl::Profiler*>(
            dlsym(dlopen(nullptr, RTLD_NOW | RTLD_LOCAL), "ncclProfiler_v5"))) {
    if (plugin_ == nullptr) {
      ADD_FAILURE() << "the test exports no ncclProfiler_v5";
      return;
    }
    plugin_->init(&context_, hash, &mask_, name, 1, ranks, rank, nullptr);
  }
  ~FakeNccl() { plugin_->finalize(context_); }
  FakeNccl(const FakeNccl&) = delete;
  FakeNccl& operator=(const FakeNccl&) = delete;

  int mask() const { return mask_; }

  void* start(nccl::Event event) {
    void* handle = reinterpret_cast<void*>(0x5a5a);  // as NCCL, whose memory may hold anything
    plugin_->start_event(context_, &handle, &event);
    return handle;
  }
  void stop(void* handle) {
    if (handle != nullptr) plugin_->stop_event(handle);
  }

  // The host's call; returns the task's parent.
  void* call(const char* function, std::size_t count, const char* type, bool is_captured = false) {
    nccl::Event event = of_type(nccl::kCollectiveCall);
    event.collective_call = {function, count, type, 0, nullptr, is_captured};
    void* handle = start(event);
    stop(handle);
    return handle;
  }
  void* call_point_to_point(const char* function, std::size_t count, const char* type,
                            bool is_captured = false) {
    nccl::Event event = of_type(nccl::kPointToPointCall);
    event.point_to_point_call = {function, count, type, nullptr, is_captured};
    void* handle = start(event);
    stop(handle);
    return handle;
  }
  void* start_launch() {
    const std::size_t before = FakeMarks::launches.size();
    void* handle = start(of_type(nccl::kKernelLaunch));
    if (FakeMarks::launches.size() > before) FakeMarks::told.push_back(FakeMarks::launches.back());
    return handle;
  }
  void launch() { stop(start_launch()); }
  void carry_out(void* call, const char* algorithm = "RING", const char* protocol = "LL128",
                 std::uint8_t channels = 16) {
    nccl::Event event = of_type(nccl::kCollective);
    event.parent = call;
    event.collective = {0,          "AllReduce", nullptr, nullptr,   1,        0,
                        "ncclInt8", channels,    8,       algorithm, protocol, nullptr};
    stop(start(event));
  }
  void carry_out_point_to_point(void* call) {
    nccl::Event event = of_type(nccl::kPointToPoint);
    event.parent = call;
    event.point_to_point = {"Send", nullptr, "ncclInt8", 1, 1, 4, nullptr};
    stop(start(event));
  }
  // All of one collective in its own group.
  void run(const char* function, std::size_t count, const char* type) {
    void* group = start(of_type(nccl::kGroupCall));
    void* task = call(function, count, type);
    launch();
    stop(start(of_type(nccl::kGroup)));
    carry_out(task);
    stop(group);
  }
  // Of a call on symmetric windows, and from 2.29.2 on of a broadcast, NCCL tells only that it was
  // asked for. Of one whose communicator does not block it tells the rest later: returns its
  // parent.
  void* run_untold(const char* function, std::size_t count, const char* type,
                   bool is_captured = false) {
    void* group = start(of_type(nccl::kGroupCall));
    void* task = call(function, count, type, is_captured);
    stop(group);
    return task;
  }

  static nccl::Event of_type(std::uint64_t type) {
    nccl::Event event;
    std::memset(&event, 0, sizeof event);
    event.type = type;
    return event;
  }

 private:
  const nccl::Profiler* plugin_;
  void* context_ = nullptr;
  int mask_ = 0;
};

}  // namespace shardlens::profiler::nccl
