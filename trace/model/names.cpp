// The stored and displayed names of the enumerations.
#include "trace/base/text.h"
#include "trace/model/batch.h"
#include "trace/model/events.h"
#include "trace/model/run_info.h"

namespace shardlens::trace::model {

std::string_view to_string(LaneKind kind) {
  static constexpr std::array<std::string_view, 6> kNames{"phases",        "operators", "compute",
                                                          "communication", "copies",    "memory"};
  return base::enum_name<LaneKind::kMemory>(kNames, kind);
}

std::string_view to_string(CollectiveFunction function) {
  static constexpr std::array<std::string_view, 10> kNames{
      "all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce",
      "send",       "receive",        "all_to_all", "barrier",   "other"};
  return base::enum_name<CollectiveFunction::kOther>(kNames, function);
}

std::string_view to_string(TagKind kind) {
  static constexpr std::array<std::string_view, 4> kNames{"none", "bucket", "unit", "named"};
  return base::enum_name<TagKind::kNamed>(kNames, kind);
}

std::string_view to_string(MemoryCategory category) {
  static constexpr std::array<std::string_view, 8> kNames{
      "parameters",  "gathered_parameters", "gradients", "optimizer",
      "activations", "communication",       "other",     "outside"};
  return base::enum_name<MemoryCategory::kOutside>(kNames, category);
}

std::string_view to_string(EventKind kind) {
  static constexpr std::array<std::string_view, 5> kNames{"op", "kernel", "launch", "copy",
                                                          "allocation"};
  return base::enum_name<EventKind::kAllocation>(kNames, kind);
}

std::string_view to_string(LogLine::Level level) {
  static constexpr std::array<std::string_view, 3> kNames{"info", "warning", "error"};
  return base::enum_name<LogLine::Level::kError>(kNames, level);
}

std::string_view to_string(RunStatus status) {
  static constexpr std::array<std::string_view, 5> kNames{"running", "done", "stopped", "failed",
                                                          "incomplete"};
  return base::enum_name<RunStatus::kIncomplete>(kNames, status);
}

bool Batch::empty() const {
  return strings.empty() && lanes.empty() && process_groups.empty() && steps.empty() &&
         spans.empty() && collectives.empty() && buckets.empty() && bucket_ready.empty() &&
         memory.empty() && counters.empty() && events.empty() && log.empty() && lost.empty() &&
         units.empty() && unit_parameters.empty() && unit_ready.empty() && evaluations.empty() &&
         !pending && !heartbeat && !cost && !rank_info;
}

std::int64_t count_events(const Batch& batch) {
  std::size_t events = 0;
  for (const EventRun& run : batch.events) events += run.events.size();
  return static_cast<std::int64_t>(events);
}

}  // namespace shardlens::trace::model
