// The fixed-size records that cross from the job's threads to the recorder's. Plain values.
#pragma once

#include <cstdint>
#include <variant>

#include "profiler/queue/recorded_values.h"
#include "trace/model/events.h"

namespace shardlens::profiler::queue {

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
