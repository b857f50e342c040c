// A rank from afar: its events and where its time went, as cells that are filled in the background
// from what was recorded. What came in since makes its stretch of time stale, and that is filled
// again; nothing else has to know in which order a rank records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <shared_mutex>
#include <vector>

#include "trace/explore/run/overview_cells.h"
#include "trace/timeline/pieces/cell_pieces.h"
#include "trace/timeline/pieces/ribbon_columns.h"

namespace shardlens::trace {

class EventStore;
struct RankSnapshot;

// Without a part of it nothing is read or shown: what is kept with a run, too.
struct OverviewRows {
  int cell_bits = kFinestCellBits;
  std::map<OverviewLane, CellRow<OverviewCell>> lanes;
  CellRow<TimeByClass> classes;
};

// What is filled of a rank's extent: its last instant, too, at which something may begin.
inline Interval with_end(Interval extent) {
  return extent.length() > 0 ? Interval{extent.start_ns, extent.end_ns + 1} : extent;
}

class RankOverview {
 public:
  RankOverview();

  // One thread at a time, while others read:
  void add_news(Interval time);  // what was recorded there is not what it was
  // `extent`: of what the rank has recorded; cells never become shorter.
  void fit(Interval extent, int cell_bits);
  // Fills the next stale cells of what the rank has recorded before `until_ns`; true while there
  // are more. Decodes what is not in the cache.
  bool fill_some(EventStore& store, const RankSnapshot& rank, std::int64_t until_ns = INT64_MAX);
  void restore(OverviewRows rows);

  // Any thread:
  const OverviewRows& rows() const { return rows_; }  // while nobody fills it
  std::size_t cell_count() const;
  double fraction() const;  // of the extent that is filled
  // Of a lane by depth.
  std::vector<OverviewLane> lanes(int lane, EventKind kind) const;
  // Whether no cell in the window is stale, and none longer than wanted. To be asked first.
  bool is_complete(int cell_bits, Interval window) const;
  // Those that touch the window, as long as wanted, or longer where there are no shorter ones.
  std::vector<SummaryCell> cells(const OverviewLane& lane, int cell_bits, Interval window) const;
  std::vector<ClassCell> classes(int cell_bits, Interval window) const;

 private:
  mutable std::shared_mutex mutex_;  // for the rest
  OverviewRows rows_;
  Intervals stale_;
  Interval extent_;
};

}  // namespace shardlens::trace
