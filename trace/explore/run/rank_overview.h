// One rank's overview, from which it is drawn when zoomed out: its events and where its time went,
// summed over cells. They are filled in the background. Whatever is recorded later marks the cells
// of its time as stale, and these are filled again: so rows and events may come in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <shared_mutex>
#include <vector>

#include "trace/explore/run/overview_cells.h"
#include "trace/timeline/pieces/cell_pieces.h"
#include "trace/timeline/pieces/ribbon_columns.h"

namespace shardlens::trace::store {
class EventStore;
}  // namespace shardlens::trace::store

namespace shardlens::trace::explore {

struct RankSnapshot;

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
  // Of a lane by depth.
  std::vector<OverviewLane> lanes(int lane, model::EventKind kind) const;
  // Whether no cell in the window is stale, and none longer than wanted. To be asked first.
  bool is_complete(int cell_bits, base::Interval window) const;
  // Those that touch the window, as long as wanted, or longer where there are no shorter ones.
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
