// One rank's overview, from which it is drawn where a pixel is longer than a cell: how many events
// began and where its time went in each stretch of one length, a power of two in nanoseconds. Cells
// are filled in the background. Whatever is recorded later marks those of its time as stale, and
// these are filled again: so rows and events may come in any order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <shared_mutex>
#include <span>
#include <utility>
#include <vector>

#include "trace/base/intervals.h"
#include "trace/base/time_partition.h"
#include "trace/model/events.h"
#include "trace/timeline/pieces/cell_pieces.h"
#include "trace/timeline/pieces/ribbon_columns.h"

namespace shardlens::trace::store {
class EventStore;
}  // namespace shardlens::trace::store

namespace shardlens::trace::explore {

struct RankSnapshot;

// Over shorter cells nothing is summed: events are drawn as soon.
inline constexpr int kFinestCellBits = 20;  // 1 ms
inline constexpr int kLongestCellBits = 48;
inline constexpr std::int64_t cell_length_ns(int bits) { return std::int64_t{1} << bits; }
// Rounds down, for times before 1970, too.
inline constexpr std::int64_t cell_at(std::int64_t time_ns, int bits) { return time_ns >> bits; }
// The cells that a time touches, one behind the last: not empty, unless the time is.
inline constexpr base::Interval cells_around(base::Interval time, int bits) {
  if (time.end_ns <= time.start_ns) return {};
  return {cell_at(time.start_ns, bits), cell_at(time.end_ns - 1, bits) + 1};
}

// What is summed as one.
struct OverviewLane {
  int lane = 0;
  model::EventKind kind = model::EventKind::kKernel;
  int depth = 0;  // operators: of nesting; else 0

  auto operator<=>(const OverviewLane&) const = default;
};
// Operators that are nested deeper are put to the deepest.
inline constexpr int kOverviewDepths = 8;

struct OverviewCell {
  std::int64_t busy_ns = 0;     // union of the events, within the cell
  std::int64_t longest_ns = 0;  // duration of the longest event that touches it, whole
  std::uint32_t count = 0;      // events that begin in it
  model::StringId name = 0;     // of the longest

  bool is_empty() const { return count == 0 && busy_ns == 0; }
  bool operator==(const OverviewCell&) const = default;
};

inline void join(OverviewCell& to, const OverviewCell& from) {
  if (from.longest_ns > to.longest_ns || to.is_empty()) {
    to.longest_ns = from.longest_ns;
    to.name = from.name;
  }
  to.busy_ns += from.busy_ns;
  to.count += from.count;
}
inline void join(base::TimeByClass& to, const base::TimeByClass& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

// Neighbouring cells.
template <typename Cell>
struct CellRow {
  std::int64_t first = 0;
  std::vector<Cell> cells;

  std::int64_t end() const { return first + static_cast<std::int64_t>(cells.size()); }
  // Takes the place of what was there.
  void put(std::int64_t at, std::span<const Cell> with) {
    if (with.empty()) return;
    if (cells.empty()) first = at;
    if (at < first) {
      cells.insert(cells.begin(), static_cast<std::size_t>(first - at), Cell{});
      first = at;
    }
    const auto offset = static_cast<std::size_t>(at - first);
    if (cells.size() < offset + with.size()) cells.resize(offset + with.size());
    std::ranges::copy(with, cells.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  // Two and two become one.
  void coarsen() {
    CellRow joined{first >> 1, {}};
    joined.cells.resize(
        cells.empty() ? 0 : static_cast<std::size_t>(((end() - 1) >> 1) - joined.first) + 1);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::int64_t at = (first + static_cast<std::int64_t>(i)) >> 1;
      join(joined.cells[static_cast<std::size_t>(at - joined.first)], cells[i]);
    }
    *this = std::move(joined);
  }
};

// The cells, which are also what is kept beside a finished run.
struct OverviewRows {
  int cell_bits = kFinestCellBits;
  std::map<OverviewLane, CellRow<OverviewCell>> lanes;
  CellRow<base::TimeByClass> classes;
};

// Intervals end before their last instant, at which an event without length may still lie.
inline base::Interval with_end(base::Interval extent) {
  return extent.length() > 0 ? base::Interval{extent.start_ns, extent.end_ns + 1} : extent;
}

class RankOverview {
 public:
  RankOverview();

  // One thread at a time, while others read:
  void add_news(base::Interval time);  // something was recorded there: its cells are stale
  // `extent`: of what the rank has recorded; cells never become shorter.
  void fit(base::Interval extent, int cell_bits);
  // Fills the next stale cells of what the rank has recorded before `until_ns`; true while there
  // are more. Decodes what is not in the cache.
  bool fill_some(store::EventStore& store, const RankSnapshot& rank,
                 std::int64_t until_ns = INT64_MAX);
  void restore(OverviewRows rows);

  // Any thread:
  const OverviewRows& rows() const { return rows_; }  // while nobody fills it
  std::size_t cell_count() const;
  double fraction() const;  // of the extent that is filled
  // The overview's lanes of a recorded lane, one for each depth.
  std::vector<OverviewLane> lanes(int lane, model::EventKind kind) const;
  // Whether no cell in the window is stale, and none longer than wanted. To be asked first.
  bool is_complete(int cell_bits, base::Interval window) const;
  // The cells that touch the window: of the wanted length, or longer where there are no shorter
  // ones.
  std::vector<timeline::SummaryCell> cells(const OverviewLane& lane, int cell_bits,
                                           base::Interval window) const;
  std::vector<timeline::ClassCell> classes(int cell_bits, base::Interval window) const;

 private:
  mutable std::shared_mutex mutex_;  // for the rest
  OverviewRows rows_;
  base::Intervals stale_;
  base::Interval extent_;
};

}  // namespace shardlens::trace::explore
