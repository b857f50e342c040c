// What a run has to show, lane by lane: what rows are made from. Plain values, any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/model/events.h"

namespace shardlens::trace::timeline {

// What one lane holds. Counts: −1 is some, not counted yet; 0 none.
struct LaneContent {
  int lane = 0;
  model::LaneKind kind = model::LaneKind::kPhases;
  std::string name;
  std::array<std::int64_t, model::kEventKindCount> events{};  // by EventKind
  std::int64_t spans = 0, collectives = 0;
  std::int64_t computing_kernels = 0;  // of those that were looked at: no collective's
  int operator_levels = 1, span_levels = 1;
  // Of its collectives, where they were read: "" if they differ.
  std::string collective_function, group_name;
};

struct CounterContent {
  std::string name, unit;
  std::int64_t samples = 0;
};

struct RankContent {
  int rank = 0;
  std::string device, device_name;
  std::int64_t end_ns = INT64_MAX;  // of what it recorded; INT64_MAX: not known
  std::vector<LaneContent> lanes;   // by number
  // From here: 0 until the rows were read.
  std::int64_t bucket_ready = 0, unit_ready = 0, memory_samples = 0;
  std::vector<CounterContent> counters;
};

}  // namespace shardlens::trace::timeline
