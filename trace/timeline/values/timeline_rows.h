// The rows that a run's timeline has, whatever part of it is on screen. Plain values, any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/model/events.h"
#include "trace/timeline/values/event_ref.h"

namespace shardlens::trace::timeline {

enum class RowKind : std::uint8_t {
  kRibbon,         // where the rank's time went, by class
  kPhases,         // host phases and the spans nested in them
  kOperators,      // of one CPU thread, nested
  kLaunches,       // host calls that start GPU work, of one CPU thread
  kKernels,        // of one stream
  kCommunication,  // collectives of one process group
  kCopies,         // copies and memsets of one stream
  kReady,          // when the gradients of buckets or units were ready
  kMemory,         // bytes that PyTorch has allocated, an area
  kCounter,        // a sampled figure, an area
  kGpu,            // the few of them that tell how the GPU is doing
};

// Bulk events that have rows: the table that they are of, and what shows them.
struct ShownKind {
  model::EventKind kind;
  EventTableKind table;
  RowKind row;
};
inline constexpr std::array<ShownKind, 4> kShownKinds{{
    {model::EventKind::kOperator, EventTableKind::kOperator, RowKind::kOperators},
    {model::EventKind::kKernel, EventTableKind::kKernel, RowKind::kKernels},
    {model::EventKind::kLaunch, EventTableKind::kLaunch, RowKind::kLaunches},
    {model::EventKind::kCopy, EventTableKind::kCopy, RowKind::kCopies},
}};

struct TimelineRow {
  int id = 0;     // its place in TimelineRows::rows
  int rank = -1;  // -1: mean over all ranks (the ribbon of the whole run)
  RowKind kind = RowKind::kRibbon;
  int lane = -1;           // of the file; kCounter, kGpu: -1
  int levels = 1;          // of nesting: spans and operators; else 1
  std::string label;       // "Compute stream 7", "All-gather · shard", "Memory allocated"
  std::string unit;        // kMemory "bytes", kCounter and kGpu as recorded
  std::int64_t count = 0;  // events in it; -1: not counted yet
};

struct TimelineRank {
  int rank = 0;
  std::string device;       // "cuda:0"
  std::string device_name;  // "NVIDIA H100 …"
  std::vector<int> rows;    // ids, in the order in which they are drawn; the ribbon first
  std::string host;         // "": not known
  // Against the first rank's clock, at most; 0: the same clock; kUnknownClockError: nothing tells;
  // -1: not known yet.
  std::int64_t clock_error_ns = -1;
  std::int64_t end_ns = INT64_MAX;  // absolute, of what it recorded; INT64_MAX: not known
};

// A step of one rank; by rank and index.
struct StepBorder {
  std::int64_t step = 0;
  int rank = 0;
  std::int64_t start_ns = 0, end_ns = 0;

  std::int64_t length_ns() const { return end_ns - start_ns; }
};

struct TimelineRows {
  std::int64_t start_ns = 0, end_ns = 0;  // absolute, of everything recorded; both 0: nothing is
  std::vector<TimelineRow> rows;          // row 0 is the mean ribbon of all ranks
  std::vector<TimelineRank> ranks;
  std::vector<StepBorder> steps;  // by start
  bool has_all_rows = true;       // false: start, steps and whatever else is of those read so far
  std::int64_t events = 0;        // of all bulk kinds
  std::array<std::int64_t, model::kEventKindCount> events_of{};  // by EventKind
  // Events that contradict themselves are shown where they can be, and counted here.
  std::int64_t reversed_events = 0;     // ended before they started: drawn from the earlier time
  std::int64_t overlapping_events = 0;  // began in another one of the same level of their lane
  // Of one step alone: none is of all ranks, and a rank's ribbon lies below its other rows.
  bool is_one_step = false;
  std::string incomplete;  // what of the run could not be read, "" for nothing

  // null: there is no such row.
  const TimelineRow* row_of(int id) const {
    const auto place = static_cast<std::size_t>(id);
    return id >= 0 && place < rows.size() ? &rows[place] : nullptr;
  }
  bool has(RowKind kind) const {
    return std::ranges::find(rows, kind, &TimelineRow::kind) != rows.end();
  }
};

}  // namespace shardlens::trace::timeline
