#include "trace/store/lod_ribbon.h"

#include <algorithm>
#include <numeric>

#include "trace/store/lod_summary.h"

namespace shardlens::trace {

namespace {

using Intervals = std::span<const LodInterval>;

// Cells of a tile, filled by stretches of time in nanoseconds from its start.
class ClassCells {
 public:
  explicit ClassCells(LodTile& tile)
      : cells_(tile.classes.data()), bits_(lod_cell_bits(tile.level)) {}
  void add(LodClass kind, std::int64_t from, std::int64_t to) {
    while (from < to) {
      const std::int64_t i = from >> bits_;
      const std::int64_t next = std::min(to, (i + 1) << bits_);
      cells_[i][static_cast<std::size_t>(kind)] += next - from;
      from = next;
    }
  }

 private:
  LodClassCell* cells_;
  int bits_;
};

// Intervals clipped to a tile, in nanoseconds from its start.
std::vector<LodInterval> clipped(Intervals set, int level, std::int64_t index) {
  std::vector<LodInterval> inside;
  const auto first = std::ranges::partition_point(set, [&](const LodInterval& each) {
    return offset_in_lod_tile(level, index, each.end_ns) == 0;
  });
  for (auto i = first; i != set.end(); ++i) {
    const LodInterval part{offset_in_lod_tile(level, index, i->start_ns),
                           offset_in_lod_tile(level, index, i->end_ns)};
    if (part.start_ns == std::int64_t{1} << lod_tile_bits(level)) break;
    if (part.end_ns > part.start_ns) inside.push_back(part);
  }
  return inside;
}

std::vector<LodInterval> optimizer_in(std::span<const LodPhase> phases, std::int64_t index) {
  std::vector<LodInterval> pieces;
  std::int64_t cursor = 0;
  for (const LodPhase& phase : phases) {
    const std::int64_t from = std::max(cursor, offset_in_lod_tile(0, index, phase.time.start_ns));
    const std::int64_t to = offset_in_lod_tile(0, index, phase.time.end_ns);
    if (to <= from) continue;
    if (phase.phase == Phase::kOptimizer) pieces.push_back({from, to});
    cursor = to;
  }
  return pieces;
}

// Says of ascending times whether they lie inside.
class IntervalCursor {
 public:
  explicit IntervalCursor(const std::vector<LodInterval>& set) : set_(set) {}
  bool holds(std::int64_t time_ns) {
    while (next_ < set_.size() && set_[next_].end_ns <= time_ns) ++next_;
    return next_ < set_.size() && set_[next_].start_ns <= time_ns;
  }

 private:
  const std::vector<LodInterval>& set_;
  std::size_t next_ = 0;
};

struct ClippedRibbon {
  std::vector<LodInterval> compute, communication, copies, optimizer, recorded, undetailed;

  ClippedRibbon(std::int64_t index, const RibbonInput& input)
      : compute(clipped(input.compute, 0, index)),
        communication(clipped(input.communication, 0, index)),
        copies(clipped(input.copies, 0, index)),
        optimizer(optimizer_in(input.phases, index)),
        recorded(clipped(input.recorded, 0, index)),
        undetailed(clipped(input.undetailed, 0, index)) {}

  // Times at which anything but compute changes, which alone comes in thousands.
  std::vector<std::int64_t> borders() const {
    std::vector<std::int64_t> times{0, std::int64_t{1} << lod_tile_bits(0)};
    for (const auto* set : {&communication, &copies, &optimizer, &recorded, &undetailed}) {
      for (const LodInterval& each : *set) times.insert(times.end(), {each.start_ns, each.end_ns});
    }
    std::ranges::sort(times);
    times.erase(std::ranges::unique(times).begin(), times.end());
    return times;
  }
};

}  // namespace

LodTile ribbon_tile(std::int64_t index, const RibbonInput& input) {
  LodTile tile = blank_lod_tile(0, index, true);
  ClassCells cells(tile);
  const ClippedRibbon ribbon(index, input);
  IntervalCursor communication(ribbon.communication), copies(ribbon.copies),
      optimizer(ribbon.optimizer), recorded(ribbon.recorded), undetailed(ribbon.undetailed);
  auto compute = ribbon.compute.begin();
  const auto borders = ribbon.borders();
  for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
    const std::int64_t from = borders[i], to = borders[i + 1];
    const bool sends = communication.holds(from);
    const bool optimizes = optimizer.holds(from);
    const bool copying = copies.holds(from);
    const bool is_known = recorded.holds(from) && !undetailed.holds(from);
    const LodClass covered = sends       ? LodClass::kOverlapped
                             : optimizes ? LodClass::kOptimizer
                                         : LodClass::kCompute;
    const LodClass bare = sends ? LodClass::kExposed : copying ? LodClass::kCopy : LodClass::kIdle;
    const bool has_bare = sends || copying || is_known;
    std::int64_t at = from;
    for (; compute != ribbon.compute.end() && compute->start_ns < to; ++compute) {
      const std::int64_t start = std::max(at, compute->start_ns);
      if (has_bare) cells.add(bare, at, start);
      at = std::min(compute->end_ns, to);
      cells.add(covered, start, at);
      if (compute->end_ns > to) break;  // goes on behind the border
    }
    if (has_bare) cells.add(bare, at, to);
  }
  return tile;
}

LodTile idle_tile(int level, std::int64_t index, Intervals recorded) {
  LodTile tile = blank_lod_tile(level, index, true);
  ClassCells cells(tile);
  for (const LodInterval& each : clipped(recorded, level, index)) {
    cells.add(LodClass::kIdle, each.start_ns, each.end_ns);
  }
  return tile;
}

bool is_idle(const LodTile& tile, Intervals recorded) {
  const bool has_work = std::ranges::any_of(tile.classes, [](const LodClassCell& cell) {
    return std::accumulate(cell.begin(), cell.end(), std::int64_t{0}) !=
           cell[static_cast<std::size_t>(LodClass::kIdle)];
  });
  return !has_work && tile == idle_tile(tile.level, tile.index, recorded);
}

void normalize(std::vector<LodInterval>& intervals) {
  std::erase_if(intervals, [](const LodInterval& each) { return each.end_ns <= each.start_ns; });
  if (!std::ranges::is_sorted(intervals)) std::ranges::sort(intervals);
  std::size_t last = 0;
  for (std::size_t i = 1; i < intervals.size(); ++i) {
    if (intervals[i].start_ns <= intervals[last].end_ns) {
      intervals[last].end_ns = std::max(intervals[last].end_ns, intervals[i].end_ns);
    } else {
      intervals[++last] = intervals[i];
    }
  }
  if (!intervals.empty()) intervals.resize(last + 1);
}

}  // namespace shardlens::trace
