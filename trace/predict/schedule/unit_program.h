// The step of a sharding strategy: units gathered and reduced when the trainer would, since both go
// by job::UnitSchedule. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/job/units/unit_schedule.h"
#include "trace/predict/schedule/step_program.h"

namespace shardlens::trace::predict {

struct PlannedUnit {
  std::string name;
  std::int64_t gathered_bytes = 0, reduced_bytes = 0;  // whole, with padding
  // Its forward a second time, in parts of the first, beyond what was recorded.
  double more_forwards = 0;
  // Is gathered for that second forward and freed behind it.
  bool is_recomputed = false;
};

struct UnitProgramPlan {
  std::vector<PlannedUnit> units;  // the root first
  job::UnitScheduleOptions schedule;
  int shard_group = 1, replicas = 1;  // ranks that share a set of shards, and that have equal ones
  bool separate_communicators = false;  // gathers have a lane of their own
  std::size_t micro_batches = 1, recorded_micro_batches = 1;
  bool reduces_each = false;
};

// Calls without what they take. A step that is scheduled has all of the plan's units in
// MicroBatchWork::forwards and ::backwards, one not within the other.
StepProgram unit_program(const UnitProgramPlan& plan);

}  // namespace shardlens::trace::predict
