// The parts of NCCL's profiler interface v5 that Shardlens uses, restated: NCCL's packages ship no
// header of it. Source: NCCL 2.28, src/include/plugin/profiler/profiler_v5.h and nccl_profiler.h;
// unchanged up to 2.30. Layouts and numbers are NCCL's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shardlens::profiler::nccl {

// ncclResult_t: a plugin never makes NCCL fail.
using Result = int;
inline constexpr Result kSuccess = 0;

// ncclProfile…: kinds of events, as bits of the activation mask.
inline constexpr std::uint64_t kGroup = 1 << 0;
inline constexpr std::uint64_t kCollective = 1 << 1;
inline constexpr std::uint64_t kPointToPoint = 1 << 2;
inline constexpr std::uint64_t kGroupCall = 1 << 8;
inline constexpr std::uint64_t kCollectiveCall = 1 << 9;
inline constexpr std::uint64_t kPointToPointCall = 1 << 10;
inline constexpr std::uint64_t kKernelLaunch = 1 << 11;

struct GroupCall {
  bool is_captured;
  int depth;
};
// The host's call, with the caller's count and type.
struct CollectiveCallEvent {
  const char* function;
  std::size_t count;
  const char* data_type;
  int root;
  void* stream;
  bool is_captured;
};
struct PointToPointCallEvent {
  const char* function;
  std::size_t count;
  const char* data_type;
  void* stream;
  bool is_captured;
};
struct KernelLaunchEvent {
  void* stream;
};
// What a kernel will do, with the count and type it was broken down to.
struct CollectiveEvent {
  std::uint64_t sequence;  // per communicator and function
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  int root;
  const char* data_type;
  std::uint8_t channels;
  std::uint8_t warps;
  const char* algorithm;
  const char* protocol;
  void* parent_group;
};
struct PointToPointEvent {
  const char* function;
  void* buffer;
  const char* data_type;
  std::size_t count;
  int peer;
  std::uint8_t channels;
  void* parent_group;
};

struct Event {
  std::uint64_t type;
  void* parent;  // what startEvent gave for the enclosing event
  int rank;
  union {
    GroupCall group_call;
    CollectiveCallEvent collective_call;
    PointToPointCallEvent point_to_point_call;
    KernelLaunchEvent kernel_launch;
    CollectiveEvent collective;
    PointToPointEvent point_to_point;
  };
};
static_assert(offsetof(Event, collective) == 24 && offsetof(CollectiveEvent, algorithm) == 64);

struct Profiler {
  const char* name;
  // Once per communicator. `mask` is one for all of them.
  Result (*init)(void** context, std::uint64_t communicator, int* mask, const char* name, int nodes,
                 int ranks, int rank, void* logger);
  Result (*start_event)(void* context, void** handle, Event* event);
  Result (*stop_event)(void* handle);
  Result (*record_event_state)(void* handle, int state, void* arguments);
  Result (*finalize)(void* context);
};

}  // namespace shardlens::profiler::nccl
