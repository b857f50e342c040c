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
  std::vector<std::int64_t> gathered_bytes;  // whole, with padding; a collective each
  std::int64_t reduced_bytes = 0;            // likewise; 0: nothing is
  // Of layers, those of inner units too; the root has all of them.
  std::size_t first = 0, end = 0;
  bool has_backward = true;     // backward comes to it
  bool passes_gradient = true;  // and goes on from it
  bool is_recomputed = false;   // a part of what is: forward goes through it a second time
  // What the host does itself before and behind each of its gathers and for each reduction, where
  // that is no part of what is computed.
  double before_gather_ns = 0, behind_gather_ns = 0, reduce_work_ns = 0;
};

struct UnitProgramPlan {
  // The root first, then as forward enters them, outer ones before inner ones.
  std::vector<PlannedUnit> units{};
  std::size_t layers = 0;
  std::vector<SecondForward> second_forwards;  // in order
  SecondForwardCost second_forward{};
  job::UnitScheduleOptions schedule;
  int shard_group = 1, replicas = 1;  // ranks that share a set of shards, and that have equal ones
  bool separate_communicators = false;  // gathers have a lane of their own
  std::size_t micro_batches = 1, recorded_micro_batches = 1;
  bool reduces_each = false;
  // On a GPU, whose host is ahead of it: gathers begin when their own stream comes to them.
  bool has_streams = false;
  double copy_ns_per_byte = 0;  // there, of a shard, before it is gathered
  // On a GPU, as fully_shard: what was gathered is copied into parameters when they are needed, and
  // later gathers begin behind such a copy, in forward behind that of the unit before. Else they
  // begin behind the last use of the memory that they need.
  bool copies_out = false;
  // Autograd is through with a unit's gradients only once it is through with the next unit's, and
  // with the last ones at its end.
  bool are_gradients_late = false;
  // What backward waits for before it reduces the next unit; at its end it waits for all. The
  // trainer: for what the one before reduced, in all groups. fully_shard: where groups of ranks add
  // up what they have, for its own group alone. FullyShardedDataParallel: for nothing.
  enum class Awaited : std::uint8_t { kReduction, kOwnGroup, kNothing };
  Awaited before_reduction = Awaited::kReduction;
  // The host waits in each, as with Gloo where nobody asks for them asynchronously.
  bool do_gathers_block = false, do_reductions_block = false;
  // To gradients that a micro-batch leaves, those of the next one are added, which nothing that was
  // recorded holds: it takes about as long as what the host does for their reduction.
  bool adds_as_it_reduces = false;
};

// Calls without what they take, by when they begin at the earliest: on a GPU a gather may come
// before computation that was launched before it. A step that is scheduled has the moments of all
// of the plan's layers.
StepProgram unit_program(const UnitProgramPlan& plan);

}  // namespace shardlens::trace::predict
