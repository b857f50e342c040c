// What a recorder is told of steps and collectives, and the fixed-size records that cross from the
// job's threads to the recorder's. Plain values.
#pragma once

#include <cstdint>
#include <variant>

#include "trace/model/events.h"

namespace shardlens::profiler::queue {

// What a rank knows of a collective when the host asks for it.
struct CollectiveCall {
  int process_group = 0;
  std::int64_t sequence = -1;
  trace::model::CollectiveFunction function = trace::model::CollectiveFunction::kOther;
  trace::model::CollectiveFunction executed = trace::model::CollectiveFunction::kOther;
  trace::model::TagKind tag_kind = trace::model::TagKind::kNone;
  int tag_index = -1;
  trace::model::StringId tag_name = 0;
  trace::model::StringId data_type = 0;
  std::int64_t bytes = trace::model::kNotKnown;
};

// What the backend made of a collective once it launched it.
struct CollectiveLaunch {
  static constexpr std::uint64_t kNotFound = UINT64_MAX;  // of what a graph captures: as 0

  std::uint64_t launch = 0;  // given to Recorder::end_launch, too; 0: cannot be found again
  trace::model::StringId algorithm = 0;
  trace::model::StringId protocol = 0;
  int channels = 0;
};

// A kernel that a CUDA graph has replayed.
struct CollectiveReplay {
  std::uint64_t launch = 0;  // that was captured
  // Numbers that are the same on all ranks, or -1: `place` counts the launches of a communicator,
  // `number` the replays of a launch.
  std::int64_t place = -1;
  std::int64_t number = -1;
  std::int64_t called_ns = 0;
  int lane = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

struct StepResult {
  double loss = 0;
  double gradient_norm = 0;
  double learning_rate = 0;
  std::int64_t tokens = trace::model::kNotKnown;
  std::int64_t samples = trace::model::kNotKnown;
  std::int64_t model_flops = trace::model::kNotKnown;
  bool nonfinite = false;
  bool has_activity = true;  // whoever recorded would have seen compute and communication
};

struct CollectiveTimes {
  int lane = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

// A bulk event with its place.
struct EventRecord {
  trace::model::Event event;
  int lane = 0;
  trace::model::EventKind kind = trace::model::EventKind::kOperator;
};

// A collective is reported in parts, by the threads that see them, in any order.
struct CollectiveEntered {
  std::uint64_t handle = 0;
  CollectiveCall call;
  trace::base::Phase phase = trace::base::Phase::kOther;
  bool detail = true;  // false: it is only shown while pending
  std::int64_t step = -1;
  std::int64_t enqueued_ns = 0;
};
struct CollectiveStarted {
  std::uint64_t handle = 0;
  int lane = 0;
  std::int64_t start_ns = 0;
};
struct CollectiveEnded {
  std::uint64_t handle = 0;
  std::int64_t end_ns = 0;
};
struct CollectiveLaunched {
  std::uint64_t handle = 0;
  CollectiveLaunch launch;
};
struct LaunchEnded {
  std::uint64_t launch = 0;
  CollectiveTimes times;  // of one kernel
};
// Of a collective that a CUDA graph has captured, to be done with each of its replays.
struct CollectiveCaptured {
  std::uint64_t handle = 0;
  CollectiveCall call;
};
struct CapturedLaunched {
  std::uint64_t handle = 0;
  CollectiveLaunch launch;  // what is 0 is not told
};
struct CollectiveObserved {
  std::uint64_t handle = 0;
  CollectiveTimes times;
};

// Everything that is not bulk. These have a queue of their own, so that a flood of operators cannot
// push out a step.
using RowRecord =
    std::variant<trace::model::Step, trace::model::Span, trace::model::BucketReady,
                 trace::model::UnitReady, trace::model::Evaluation, trace::model::MemorySample,
                 trace::model::CounterSample, CollectiveEntered, CollectiveStarted, CollectiveEnded,
                 CollectiveLaunched, LaunchEnded, CollectiveObserved, CollectiveCaptured,
                 CapturedLaunched, CollectiveReplay>;

}  // namespace shardlens::profiler::queue
