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
  // Its forward a second time, in parts of the first, beyond what was recorded: within its backward
  // and what is gathered for that.
  double more_forwards = 0;
};

struct UnitProgramPlan {
  std::vector<PlannedUnit> units;  // the root first
  job::UnitScheduleOptions schedule;
  int shard_group = 1, replicas = 1;  // ranks that share a set of shards, and that have equal ones
  bool separate_communicators = false;  // gathers have a lane of their own
  std::size_t micro_batches = 1, recorded_micro_batches = 1;
  bool reduces_each = false;
  // On a GPU, whose host is ahead of it: gathers begin when their own stream comes to them.
  bool has_streams = false;
  double copy_ns_per_byte = 0;  // there, of a shard, before it is gathered
};

// Calls without what they take, by when they begin at the earliest: on a GPU a gather may come
// before computation that was launched before it. A step that is scheduled has all of the plan's
// units in MicroBatchWork::forwards and ::backwards, one not within the other.
StepProgram unit_program(const UnitProgramPlan& plan);

}  // namespace shardlens::trace::predict
