// What NCCL's events mean for the recorder: which host call a kernel carries out, and how. NCCL's
// threads; waits for a few instructions of another one at most, and allocates only when a
// communicator, or the lane of calls whose kernels nothing reports, is first used, where a group
// has more calls or launches than any before on its thread, and while a CUDA graph is captured.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <utility>

#include "profiler/nccl/call_pool.h"
#include "profiler/nccl/captured_calls.h"
#include "profiler/nccl/nccl_communicator.h"
#include "profiler/nccl/profiler_abi.h"
#include "profiler/recorder/recorder.h"

namespace shardlens::profiler::nccl {

// How the kernels of a launch are found again in what the GPU reports: begin() and end() are called
// around it on the launching thread, the launch is what Recorder::end_launch is given. Null where
// nothing records the GPU.
struct LaunchMarker {
  // `order`: launches with the same are run one after the other by all ranks alike. kNoOrder: this
  // one has no counterpart, kUnsure: nobody knows.
  void (*begin)(std::uint64_t launch, std::uint64_t order) = nullptr;
  static constexpr std::uint64_t kNoOrder = 0, kUnsure = UINT64_MAX;
  void (*end)() = nullptr;
  // Whether a launch that a CUDA graph captures is found in each of its replays, too.
  bool sees_replays = false;
};

class NcclEvents {
 public:
  static constexpr int kMask =
      static_cast<int>(nccl::kCollective | nccl::kPointToPoint | nccl::kGroupCall |
                       nccl::kCollectiveCall | nccl::kPointToPointCall | nccl::kKernelLaunch);
  NcclEvents(recorder::Recorder& recorder, int rank, LaunchMarker marker);
  // Counts what was lost.
  ~NcclEvents();
  NcclEvents(const NcclEvents&) = delete;
  NcclEvents& operator=(const NcclEvents&) = delete;

  // The handle for NCCL, never null: without one it never calls stop().
  void* start(NcclCommunicator& communicator, const nccl::Event& event);
  void stop(void* handle);

 private:
  template <typename CallEvent>
  void* start_call(NcclCommunicator& communicator, const CallEvent& event);
  template <typename CallEvent>
  void* start_captured_call(NcclCommunicator& communicator, const CallEvent& event);
  void* start_launch(NcclCommunicator& communicator);
  void launch_captured(NcclCommunicator& communicator);
  void carry_out_captured(NcclCommunicator& communicator, const CapturedCalls::Call& call,
                          queue::CollectiveLaunch launch);
  void carry_out(NcclCommunicator& communicator, void* call, queue::CollectiveLaunch launch);
  void end_mark();
  void begin_group(NcclCommunicator& communicator);
  bool has_open_group() const;
  void await_group_end(const NcclCommunicator& communicator, void* call);
  void end_group();
  void end_untold(const NcclCommunicator& communicator);
  void note_launched(const NcclCallPool::Call& call, const queue::CollectiveLaunch& launch);
  void end_unseen(const NcclCallPool::Call& call);
  template <typename CallEvent>
  queue::CollectiveCall call_in(NcclCommunicator& communicator, NcclGroup which,
                                const CallEvent& event);
  void tell_of_graphs();
  trace::model::StringId name_id(std::string_view name);

  recorder::Recorder& recorder_;
  const int rank_;
  const LaunchMarker marker_;
  const std::uint64_t number_;
  std::once_flag has_lane_;
  int lane_ = -1;  // of calls whose kernels nothing reports
  // Interned beforehand, since interning takes a lock.
  std::array<std::pair<std::string_view, trace::model::StringId>, 22> known_names_;
  NcclCallPool calls_;
  CapturedCalls captured_;
  std::atomic<std::int64_t> calls_lost_{0};
  std::atomic<std::int64_t> parents_lost_{0};
  std::atomic<bool> told_of_graphs_{false};
};

// While it lives, what NCCL is asked for on this thread belongs to `collective`, a handle of
// Recorder::enter_collective, and makes no row of its own.
class HostCollectiveScope {
 public:
  explicit HostCollectiveScope(std::uint64_t collective);
  ~HostCollectiveScope();
  HostCollectiveScope(const HostCollectiveScope&) = delete;
  HostCollectiveScope& operator=(const HostCollectiveScope&) = delete;

 private:
  const std::uint64_t outer_;
};

}  // namespace shardlens::profiler::nccl
