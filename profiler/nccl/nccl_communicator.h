// A communicator of NCCL and the process groups that it is for the recorder: one for what the host
// calls, and one for what CUDA graphs replay, which is counted by itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "profiler/nccl/captured_calls.h"
#include "profiler/recorder/recorder.h"

namespace shardlens::profiler::nccl {

enum class NcclGroup : std::uint8_t { kCalls, kGraphs };

struct NcclCommunicator {
  // What is told of one of its groups.
  struct Group {
    std::atomic<std::int64_t> next_sequence{0};  // within a group of calls, of what is captured
    std::atomic<std::uint64_t> announced_to{0};  // number of the NcclEvents that knows it
  };

  Group& group(NcclGroup which) { return which == NcclGroup::kCalls ? calls : graphs; }

  std::uint64_t hash = 0;  // the same on all its ranks
  std::string name;        // given by the program; may be empty
  int ranks = 0;
  int rank = 0;
  Group calls, graphs;
  CapturedGroup captured;  // the thread that calls NCCL
  // Whether NCCL launches what it is asked for on a thread of its own, as where the communicator
  // does not block: it may tell of a launch when the group has ended.
  std::atomic<bool> is_launched_apart{false};
};

// Ids of process groups that are made from communicators start here, beyond a host's own.
inline constexpr int kFirstNcclGroup = 1 << 20;
// The same on all ranks.
int nccl_group_id(std::uint64_t communicator_hash, NcclGroup which = NcclGroup::kCalls);

// `rank`: the global one of this process. NCCL does not say which global ranks the others have.
void announce_group(recorder::Recorder& recorder, const NcclCommunicator& communicator,
                    NcclGroup which, int rank);

}  // namespace shardlens::profiler::nccl
