// One step's allocations on one rank as a memory timeline shows them: as stacked bands, one per
// allocation, each from its start to its end; a band moves down when one below it is freed. What is
// too small to be seen is one band on top. Plain values and pure functions, any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trace/model/events.h"
#include "trace/timeline/values/picture.h"

namespace shardlens::trace::timeline {

struct StepAllocation {
  std::int64_t start_ns = 0, end_ns = 0;  // within the step; lives in [start, end)
  std::int64_t bytes = 0;
  std::uint64_t address = 0;
  std::uint32_t name = 0;  // index into StepAllocations::names: the operator; 0 is ""
  model::MemoryCategory category = model::MemoryCategory::kOther;
  bool is_older = false;  // was there when the step began
  bool outlives = false;  // was still there when it ended

  bool is_constant() const { return is_older && outlives; }
};

struct StepAllocations {
  std::int64_t start_ns = 0, end_ns = 0;  // of the step
  std::vector<StepAllocation> all;        // by start, older ones first
  std::vector<std::string> names;
};

// When most bytes were alive, the first such moment.
struct MemoryPeak {
  std::int64_t time_ns = 0;
  std::int64_t bytes = 0;
  std::array<std::int64_t, model::kMemoryCategoryCount> composition{};
  std::vector<std::uint32_t> alive;  // indices of what was alive then, the largest first
};
MemoryPeak find_peak(std::span<const StepAllocation> allocations);

struct FlameOptions {
  // One with less than a `rows`th of the peak is less than a pixel.
  int rows = 800;
  std::size_t most_bands = 4000;  // the largest
  // What lives from the step's start to its end is left out, so that the rest can be told apart.
  bool hides_constant = false;
};

struct MemoryFlame {
  // The bottom of a band from a moment on, until the next point or the band's end.
  struct Point {
    std::int64_t time_ns = 0;
    std::int64_t offset = 0;  // bytes
  };
  struct Band {
    std::uint32_t allocation = 0;  // index into StepAllocations::all
    std::uint32_t first_point = 0, point_count = 0;
  };
  // All the small ones together, from a moment on.
  struct Small {
    std::int64_t time_ns = 0;
    std::int64_t offset = 0, bytes = 0;
    std::int64_t count = 0;
  };
  std::vector<Band> bands;  // by start
  std::vector<Point> points;
  std::vector<Small> small;
  std::int64_t small_count = 0;     // allocations in `small`
  std::int64_t least_bytes = 0;     // of an allocation with a band of its own
  std::int64_t highest_bytes = 0;   // of the whole stack
  std::int64_t constant_bytes = 0;  // left out

  std::span<const Point> points_of(const Band& band) const {
    return std::span(points).subspan(band.first_point, band.point_count);
  }
};
MemoryFlame layout_flame(const StepAllocations& step, const FlameOptions& options = {});

// What lies at a moment and a height.
struct FlameHit {
  int band = -1;   // index into MemoryFlame::bands
  int small = -1;  // index into MemoryFlame::small
};
FlameHit find_in_flame(const StepAllocations& step, const MemoryFlame& flame, std::int64_t time_ns,
                       std::int64_t offset);

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
  std::int64_t step = -1;  // -1: no step has a record
  // In a replay: it has not come to the end of the step, or of the first one with a record.
  bool is_to_come = false;
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
