#include "profiler/recorder/collective_recorder.h"

#include "profiler/recorder/recorder_state.h"

namespace shardlens::profiler::recorder {

std::uint64_t CollectiveRecorder::enter_collective(const queue::CollectiveCall& call) {
  queue::CollectiveEntered entered;
  entered.handle = state_.next_collective.fetch_add(1, std::memory_order_relaxed);
  entered.call = call;
  if (state_.tells_present.load(std::memory_order_relaxed)) {
    entered.phase = state_.phase.load(std::memory_order_relaxed);
    entered.step = state_.step.load(std::memory_order_relaxed);
  }
  entered.detail = state_.detail.load(std::memory_order_relaxed);
  entered.enqueued_ns = trace::base::wall_clock_ns();
  state_.push_row(entered);
  return entered.handle;
}

void CollectiveRecorder::start_collective(std::uint64_t handle, int lane, std::int64_t start_ns) {
  state_.push_row(queue::CollectiveStarted{handle, lane, start_ns});
}

void CollectiveRecorder::end_collective(std::uint64_t handle, std::int64_t end_ns) {
  state_.push_row(queue::CollectiveEnded{handle, end_ns});
}

void CollectiveRecorder::launch_collective(std::uint64_t handle,
                                           const queue::CollectiveLaunch& launch) {
  state_.push_row(queue::CollectiveLaunched{handle, launch});
}

void CollectiveRecorder::end_launch(std::uint64_t launch, int lane, std::int64_t start_ns,
                                    std::int64_t end_ns) {
  state_.push_row(queue::LaunchEnded{launch, {lane, start_ns, end_ns}});
}

std::uint64_t CollectiveRecorder::capture_collective(const queue::CollectiveCall& call) {
  const std::uint64_t handle = state_.next_collective.fetch_add(1, std::memory_order_relaxed);
  state_.push_row(queue::CollectiveCaptured{handle, call});
  return handle;
}

void CollectiveRecorder::launch_captured(std::uint64_t handle,
                                         const queue::CollectiveLaunch& launch) {
  state_.push_row(queue::CapturedLaunched{handle, launch});
}

void CollectiveRecorder::end_replay(const queue::CollectiveReplay& replay) {
  if (state_.over_limit) return state_.unqueued.add_lost("size limit", 1);
  state_.push_row(replay);
}

void CollectiveRecorder::observe_collective(std::uint64_t handle, int lane, std::int64_t start_ns,
                                            std::int64_t end_ns) {
  state_.push_row(queue::CollectiveObserved{handle, {lane, start_ns, end_ns}});
}

}  // namespace shardlens::profiler::recorder
