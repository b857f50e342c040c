// What a recorder is told of collectives: by the caller of enter, and whichever thread sees start
// and end. Never blocks, never allocates.
#pragma once

#include <cstdint>

#include "profiler/queue/records.h"

namespace shardlens::profiler::recorder {

struct RecorderState;

class CollectiveRecorder {
 public:
  // Returns a handle; the collective counts as pending until it has ended, in one of three ways.
  std::uint64_t enter_collective(const queue::CollectiveCall& call);
  // 1. Whoever runs it reports its true times.
  void start_collective(std::uint64_t handle, int lane, std::int64_t start_ns);
  void end_collective(std::uint64_t handle, std::int64_t end_ns);
  // 2. The GPU does: the kernel of a launch ran. One kernel may carry several collectives, and a
  // collective may need several kernels.
  void launch_collective(std::uint64_t handle, const queue::CollectiveLaunch& launch);
  void end_launch(std::uint64_t launch, int lane, std::int64_t start_ns, std::int64_t end_ns);
  // 3. The host saw that it was over. Later than the truth, so it counts only where no kernel comes
  // (CollectiveJoin::lacks_kernels).
  void observe_collective(std::uint64_t handle, int lane, std::int64_t start_ns,
                          std::int64_t end_ns);

  // ---- collectives that a CUDA graph captures instead: nothing is pending, and each replay is one
  // Returns a handle. The call's sequence counts what a kernel carries at most, from 0. Its process
  // group must have no others.
  std::uint64_t capture_collective(const queue::CollectiveCall& call);
  // Which launch carries it and how, together or one by one: what is 0 is not told. A later launch
  // takes the place of an earlier one.
  void launch_captured(std::uint64_t handle, const queue::CollectiveLaunch& launch);
  void end_replay(const queue::CollectiveReplay& replay);

 protected:
  explicit CollectiveRecorder(RecorderState& state) : state_(state) {}
  ~CollectiveRecorder() = default;

 private:
  RecorderState& state_;
};

}  // namespace shardlens::profiler::recorder
