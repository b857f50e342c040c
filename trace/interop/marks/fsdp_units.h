// Which collectives were for which unit of a sharding program, and what the units hold, from its
// marks, the gradients and what was moved. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/interop/marks/autograd_passes.h"
#include "trace/interop/marks/ddp_buckets.h"
#include "trace/interop/marks/unit_marks.h"
#include "trace/model/events.h"

namespace shardlens::trace::interop {

struct FsdpUnit {
  std::string name;
  std::int64_t bytes = 0, reduced_bytes = 0;  // 0: never gathered or reduced, or not told
  std::int64_t ranks = 1;                     // that share it
  model::StringId data_type = 0;              // as it is gathered
  // In the order in which their gradients came; empty where what was reduced does not bear them out
  std::vector<DdpGradient> parameters{};
  std::int64_t element_bytes = 0;  // of them, as they are gathered
};

struct FsdpUnits {
  std::vector<FsdpUnit> units{};  // the root first
  std::string why_none{};         // a clause; "": there are units
  struct Tag {
    std::size_t call = 0;
    int unit = 0;
    std::string text;  // "layers.3 forward gather, prefetched"
  };
  std::vector<Tag> tags{};
  struct Ready {
    int unit = 0;
    std::int64_t time_ns = 0;  // when the last gradient was there of what was then reduced
  };
  std::vector<Ready> ready{};
};

// Units that were inferred are found only if the same was moved for each, whenever it was.
FsdpUnits find_fsdp_units(const UnitMarks& marks, std::span<const TrainingPass> passes,
                          std::span<const AskedCall> calls);

}  // namespace shardlens::trace::interop
