// One step's allocations on one rank, and what a memory timeline shows of them. Plain values, any
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trace/model/events.h"
#include "trace/timeline/values/memory_flame.h"
#include "trace/timeline/values/picture.h"

namespace shardlens::trace::timeline {

struct StepMemoryRequest {
  int rank = -1;           // -1: the first that has a record
  std::int64_t step = -1;  // -1: the first that has a record
  bool hides_constant = false;

  bool operator==(const StepMemoryRequest&) const = default;
};

struct StepMemory {
  StepMemoryRequest request;
  struct Recorded {
    int rank = 0;
    std::vector<std::int64_t> steps;  // that have a record, ascending
  };
  std::vector<Recorded> recorded;  // of all ranks, by rank; those without one are there, too

  int rank = -1;
  std::int64_t step = -1;                              // -1: no step has a record
  std::shared_ptr<const StepAllocations> allocations;  // null: none of this step
  std::shared_ptr<const MemoryFlame> flame;
  MemoryPeak peak;  // of `allocations`
  // As it was counted while the step ran; -1: not known.
  std::int64_t counted_peak_bytes = -1;
  std::int64_t reserved_bytes = -1;  // then, by a caching allocator
  struct PhasePart {
    base::Phase phase = base::Phase::kOther;
    base::TimeClass piece_class = base::TimeClass::kOtherPhase;
    std::int64_t start_ns = 0, end_ns = 0;
  };
  std::vector<PhasePart> phases;  // of the step, by start
  std::string problem;            // what could not be read, "" for nothing
};

}  // namespace shardlens::trace::timeline
