#include "trace/store/lod/lod_ribbon.h"

#include <algorithm>
#include <numeric>

#include "trace/store/lod/lod_summary.h"

namespace shardlens::trace {

namespace {

// Cells of a tile, filled by stretches of time in nanoseconds from its start.
class ClassCells {
 public:
  explicit ClassCells(LodTile& tile)
      : cells_(tile.classes.data()), bits_(lod_cell_bits(tile.level)) {}
  void add(TimeClass kind, std::int64_t from, std::int64_t to) {
    while (from < to) {
      const std::int64_t i = from >> bits_;
      const std::int64_t next = std::min(to, (i + 1) << bits_);
      cells_[i][index_of(kind)] += next - from;
      from = next;
    }
  }

 private:
  TimeByClass* cells_;
  int bits_;
};

}  // namespace

LodTile ribbon_tile(std::int64_t index, const ActivitySets& sets, const Intervals& known) {
  LodTile tile = blank_lod_tile(0, index, true);
  ClassCells cells(tile);
  const std::int64_t start = tile.start_ns(), length = std::int64_t{1} << lod_tile_bits(0);
  const Interval window{start, start > INT64_MAX - length ? INT64_MAX : start + length};
  sweep_classes(sets, window, [&](Interval part, TimeClass time_class) {
    const auto add = [&](Interval time) {
      cells.add(time_class, time.start_ns - start, time.end_ns - start);
    };
    time_class == TimeClass::kIdle ? visit_within(known, part, add) : add(part);
  });
  return tile;
}

LodTile idle_tile(int level, std::int64_t index, const Intervals& known) {
  LodTile tile = blank_lod_tile(level, index, true);
  ClassCells cells(tile);
  for (const Interval& each : known) {
    cells.add(TimeClass::kIdle, offset_in_lod_tile(level, index, each.start_ns),
              offset_in_lod_tile(level, index, each.end_ns));
  }
  return tile;
}

bool is_idle(const LodTile& tile, const Intervals& known) {
  const bool has_work = std::ranges::any_of(tile.classes, [](const TimeByClass& cell) {
    return std::accumulate(cell.begin(), cell.end(), std::int64_t{0}) !=
           cell[index_of(TimeClass::kIdle)];
  });
  return !has_work && tile == idle_tile(tile.level, tile.index, known);
}

}  // namespace shardlens::trace
