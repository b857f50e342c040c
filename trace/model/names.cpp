// The stored and displayed names of the enumerations.
#include "trace/model/batch.h"
#include "trace/model/events.h"
#include "trace/model/run_info.h"

namespace shardlens::trace::model {

std::string_view to_string(LaneKind kind) {
  switch (kind) {
    case LaneKind::kPhases:
      return "phases";
    case LaneKind::kOperators:
      return "operators";
    case LaneKind::kCompute:
      return "compute";
    case LaneKind::kCommunication:
      return "communication";
    case LaneKind::kCopies:
      return "copies";
    case LaneKind::kMemory:
      return "memory";
  }
  return "unknown";
}

std::string_view to_string(CollectiveFunction function) {
  switch (function) {
    case CollectiveFunction::kAllReduce:
      return "all_reduce";
    case CollectiveFunction::kReduceScatter:
      return "reduce_scatter";
    case CollectiveFunction::kAllGather:
      return "all_gather";
    case CollectiveFunction::kBroadcast:
      return "broadcast";
    case CollectiveFunction::kReduce:
      return "reduce";
    case CollectiveFunction::kSend:
      return "send";
    case CollectiveFunction::kReceive:
      return "receive";
    case CollectiveFunction::kAllToAll:
      return "all_to_all";
    case CollectiveFunction::kBarrier:
      return "barrier";
    case CollectiveFunction::kOther:
      return "other";
  }
  return "unknown";
}

std::string_view to_string(TagKind kind) {
  switch (kind) {
    case TagKind::kNone:
      return "none";
    case TagKind::kBucket:
      return "bucket";
    case TagKind::kUnit:
      return "unit";
    case TagKind::kNamed:
      return "named";
  }
  return "unknown";
}

std::string_view to_string(MemoryCategory category) {
  switch (category) {
    case MemoryCategory::kParameters:
      return "parameters";
    case MemoryCategory::kGatheredParameters:
      return "gathered_parameters";
    case MemoryCategory::kGradients:
      return "gradients";
    case MemoryCategory::kOptimizer:
      return "optimizer";
    case MemoryCategory::kActivations:
      return "activations";
    case MemoryCategory::kCommunication:
      return "communication";
    case MemoryCategory::kOther:
      return "other";
    case MemoryCategory::kOutside:
      return "outside";
  }
  return "unknown";
}

std::string_view to_string(EventKind kind) {
  switch (kind) {
    case EventKind::kOperator:
      return "op";
    case EventKind::kKernel:
      return "kernel";
    case EventKind::kLaunch:
      return "launch";
    case EventKind::kCopy:
      return "copy";
    case EventKind::kAllocation:
      return "allocation";
  }
  return "unknown";
}

std::string_view to_string(LogLine::Level level) {
  switch (level) {
    case LogLine::Level::kInfo:
      return "info";
    case LogLine::Level::kWarning:
      return "warning";
    case LogLine::Level::kError:
      return "error";
  }
  return "unknown";
}

std::string_view to_string(RunStatus status) {
  switch (status) {
    case RunStatus::kRunning:
      return "running";
    case RunStatus::kDone:
      return "done";
    case RunStatus::kStopped:
      return "stopped";
    case RunStatus::kFailed:
      return "failed";
    case RunStatus::kIncomplete:
      return "incomplete";
  }
  return "unknown";
}

bool Batch::empty() const {
  return strings.empty() && lanes.empty() && process_groups.empty() && steps.empty() &&
         spans.empty() && collectives.empty() && buckets.empty() && bucket_ready.empty() &&
         memory.empty() && counters.empty() && events.empty() && log.empty() && lost.empty() &&
         units.empty() && unit_parameters.empty() && unit_ready.empty() && evaluations.empty() &&
         !pending && !heartbeat && !cost && !rank_info;
}

}  // namespace shardlens::trace::model
