#include "trace/store/lod/lod_summary.h"

#include <algorithm>

namespace shardlens::trace {

namespace {

constexpr std::int64_t kBottomCellNs = lod_cell_ns(0);

void lengthen(LodCell& cell, std::int64_t duration_ns, StringId name) {
  if (duration_ns < cell.longest_ns) return;
  if (duration_ns == cell.longest_ns && name <= cell.longest_name) return;
  cell.longest_ns = duration_ns;
  cell.longest_name = name;
}

LodCell merged(const LodCell* cells) {
  LodCell sum;
  for (int i = 0; i < kLodParts; ++i) {
    const LodCell& cell = cells[i];
    sum.busy_ns += cell.busy_ns;
    sum.busiest_ns = std::max(sum.busiest_ns, cell.busiest_ns);
    sum.count += cell.count;
    lengthen(sum, cell.longest_ns, cell.longest_name);
  }
  return sum;
}

TimeByClass merged(const TimeByClass* cells) {
  TimeByClass sum{};
  for (int i = 0; i < kLodParts; ++i) {
    for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += cells[i][c];
  }
  return sum;
}

// `covered`: the union's end so far, in nanoseconds from the tile's start.
void add_events(LodTile& tile, std::span<const LodEvent> events, std::int64_t& covered) {
  constexpr std::int64_t kLength = std::int64_t{1} << lod_tile_bits(0);
  LodCell* const cells = tile.cells.data();
  for (const LodEvent& event : events) {
    const std::int64_t from = offset_in_lod_tile(0, tile.index, event.start_ns);
    const std::int64_t to = offset_in_lod_tile(0, tile.index, event.end_ns);
    const bool begins = first_tile(event) == tile.index;
    if (from == kLength || (!begins && to == 0)) continue;
    const std::int64_t first = from >> kLodCellBits;
    const std::int64_t last = to > from ? (to - 1) >> kLodCellBits : first;
    if (begins) ++cells[first].count;
    for (std::int64_t i = first; i <= last; ++i)
      lengthen(cells[i], event.duration_ns(), event.name);
    for (std::int64_t at = std::max(from, covered); at < to;) {
      const std::int64_t i = at >> kLodCellBits;
      const std::int64_t next = std::min(to, (i + 1) << kLodCellBits);
      cells[i].busy_ns += next - at;
      at = next;
    }
    covered = std::max(covered, to);
  }
}

template <typename Cell>
void merge_cells(std::vector<Cell>& to, const std::vector<Cell>& from, std::int64_t part) {
  constexpr int kCells = kLodTileCells / kLodParts;
  for (int i = 0; i < kCells; ++i) {
    to[static_cast<std::size_t>(part * kCells + i)] =
        merged(&from[static_cast<std::size_t>(i * kLodParts)]);
  }
}

}  // namespace

LodTile blank_lod_tile(int level, std::int64_t index, bool is_ribbon) {
  LodTile tile;
  tile.level = level;
  tile.index = index;
  if (is_ribbon) {
    tile.classes.resize(kLodTileCells);
  } else {
    tile.cells.resize(kLodTileCells);
  }
  return tile;
}

bool is_blank(const LodTile& tile) {
  return std::ranges::all_of(tile.cells, [](const LodCell& cell) { return cell == LodCell(); }) &&
         std::ranges::all_of(tile.classes,
                             [](const TimeByClass& cell) { return cell == TimeByClass(); });
}

LodTile summarize(std::int64_t index, std::span<const LodEvent> events) {
  return summarize(index, {}, events);
}

LodTile summarize(std::int64_t index, std::span<const LodEvent> before,
                  std::span<const LodEvent> events) {
  LodTile tile = blank_lod_tile(0, index, false);
  std::int64_t covered = 0;
  add_events(tile, before, covered);
  add_events(tile, events, covered);
  for (LodCell& cell : tile.cells) cell.busiest_ns = cell.busy_ns;
  return tile;
}

void cover(LodTile& tile, const LodEvent& event) {
  const int bits = lod_cell_bits(tile.level);
  const std::int64_t cell_ns = lod_cell_ns(tile.level);
  const std::int64_t from = offset_in_lod_tile(tile.level, tile.index, event.start_ns);
  const std::int64_t to = offset_in_lod_tile(tile.level, tile.index, event.end_ns);
  for (std::int64_t i = (from + cell_ns - 1) >> bits; i < to >> bits; ++i) {
    LodCell& cell = tile.cells[static_cast<std::size_t>(i)];
    cell.busy_ns = cell_ns;
    cell.busiest_ns = kBottomCellNs;
    lengthen(cell, event.duration_ns(), event.name);
  }
}

void merge_part(LodTile& parent, const LodTile& child) {
  const std::int64_t part = child.index & (kLodParts - 1);
  if (!child.cells.empty()) merge_cells(parent.cells, child.cells, part);
  if (!child.classes.empty()) merge_cells(parent.classes, child.classes, part);
}

}  // namespace shardlens::trace
