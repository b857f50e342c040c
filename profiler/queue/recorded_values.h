// What a recorder is told of steps and collectives. Plain values.
#pragma once

#include <cstdint>

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
  // The same on all ranks, or -1: of the launch among those of its communicator, and of the replay
  // among those of the launch.
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

}  // namespace shardlens::profiler::queue
