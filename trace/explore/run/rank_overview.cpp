#include "trace/explore/run/rank_overview.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "trace/explore/run/run_snapshot.h"
#include "trace/explore/run/window_activity.h"

namespace shardlens::trace::explore {

namespace {

// Calls visit(cell, part) for the parts of a time in the cells of a window.
template <typename Visit>
void visit_cells(base::Interval time, int bits, base::Interval cells, Visit&& visit) {
  const base::Interval touched = cells_around(time, bits);
  for (std::int64_t at = std::max(touched.start_ns, cells.start_ns);
       at < std::min(touched.end_ns, cells.end_ns); ++at) {
    const std::int64_t start_ns = at << bits;
    visit(static_cast<std::size_t>(at - cells.start_ns),
          base::Interval{std::max(time.start_ns, start_ns),
                         std::min(time.end_ns, start_ns + cell_length_ns(bits))});
  }
}

class LaneSums {
 public:
  LaneSums(int bits, base::Interval cells)
      : bits_(bits), cells_(cells), sums_(static_cast<std::size_t>(cells.length())) {}

  // In order of start.
  void add(base::Interval time, model::StringId name) {
    const std::int64_t first = cell_at(time.start_ns, bits_);
    if (first >= cells_.start_ns && first < cells_.end_ns) {
      OverviewCell& cell = sums_[static_cast<std::size_t>(first - cells_.start_ns)];
      if (cell.is_empty()) cell.name = name;
      ++cell.count;
    }
    visit_cells(time, bits_, cells_, [&](std::size_t i, base::Interval part) {
      OverviewCell& cell = sums_[i];
      if (time.length() > cell.longest_ns) {
        cell.longest_ns = time.length();
        cell.name = name;
      }
      cell.busy_ns += std::max<std::int64_t>(part.end_ns - std::max(part.start_ns, covered_ns_), 0);
    });
    covered_ns_ = std::max(covered_ns_, time.end_ns);
  }
  std::vector<OverviewCell> take() { return std::move(sums_); }

 private:
  int bits_;
  base::Interval cells_;
  std::vector<OverviewCell> sums_;
  std::int64_t covered_ns_ = INT64_MIN;
};

std::vector<base::TimeByClass> classes_of(const WindowActivity& activity, const RankSnapshot& rank,
                                          int bits, base::Interval cells) {
  std::vector<base::TimeByClass> classes(static_cast<std::size_t>(cells.length()));
  const base::Intervals recorded = activity.recorded(rank);
  base::sweep_classes(
      {activity.compute, activity.communication, activity.copies, rank.rows->optimizer},
      activity.window, [&](base::Interval part, base::TimeClass time_class) {
        const auto add = [&](base::Interval time) {
          visit_cells(time, bits, cells, [&](std::size_t i, base::Interval within) {
            classes[i][base::index_of(time_class)] += within.length();
          });
        };
        time_class == base::TimeClass::kIdle ? base::visit_within(recorded, part, add) : add(part);
      });
  return classes;
}

// All events and rows in a window, summed.
struct WindowCells {
  std::map<OverviewLane, std::vector<OverviewCell>> lanes;  // those with events
  std::vector<base::TimeByClass> classes;  // what the rank did not record is in no class
};

// `cells`: the first of the window and one behind its last. Decodes what is not in the cache; what
// cannot be read is left out.
WindowCells window_cells(store::EventStore& store, const RankSnapshot& rank, int cell_bits,
                         base::Interval cells) {
  std::map<OverviewLane, LaneSums> sums;
  LaneSums* current = nullptr;
  OverviewLane current_lane;
  const auto see = [&](const OverviewLane& lane, base::Interval time, model::StringId name) {
    if (current == nullptr || current_lane != lane) {
      current = &sums.try_emplace(lane, cell_bits, cells).first->second;
      current_lane = lane;
    }
    current->add(time, name);
  };
  const base::Interval window{cells.start_ns << cell_bits, cells.end_ns << cell_bits};
  const WindowActivity activity = window_activity(store, rank, window, see);
  WindowCells result;
  for (auto& [lane, each] : sums) result.lanes.emplace(lane, each.take());
  result.classes = classes_of(activity, rank, cell_bits, cells);
  return result;
}

// How many are filled per call: about what the scan has decoded in one of its own.
constexpr std::int64_t kCellsPerCall = 4096;
// Wider than any run, since implausible times are left out; half of what an integer holds, so that
// sums do not overflow.
constexpr base::Interval kEver{-(std::int64_t{1} << 62), std::int64_t{1} << 62};

// The busiest of the cells that were joined into a longer one.
struct Greatest {
  std::int64_t busy_ns = 0;
  void see(const OverviewCell& cell) { busy_ns = std::max(busy_ns, cell.busy_ns); }
  void see(const base::TimeByClass&) {}
};

// Calls visit(time, cell, greatest) for the cells of the window, joined to `bits`.
template <typename Cell, typename Visit>
void visit_joined(const CellRow<Cell>& row, int row_bits, int bits, base::Interval window,
                  Visit&& visit) {
  const base::Interval wanted = cells_around(window, bits);
  const int shift = bits - row_bits;
  std::int64_t at = std::max(row.first, wanted.start_ns << shift);
  const std::int64_t end = std::min(row.end(), wanted.end_ns << shift);
  while (at < end) {
    const std::int64_t joined_at = at >> shift;
    Cell joined{};
    Greatest greatest;
    for (; at < end && at >> shift == joined_at; ++at) {
      const Cell& cell = row.cells[static_cast<std::size_t>(at - row.first)];
      greatest.see(cell);
      join(joined, cell);
    }
    visit(base::Interval{joined_at << bits, (joined_at + 1) << bits}, joined, greatest);
  }
}

}  // namespace

RankOverview::RankOverview() : stale_{kEver}, extent_(kEver) {}

void RankOverview::add_news(base::Interval time) {
  const std::lock_guard lock(mutex_);
  const auto within = [](std::int64_t at_ns) {
    return std::clamp(at_ns, kEver.start_ns, kEver.end_ns - 1);
  };
  // An event without length lies at its start.
  stale_ = base::unite(stale_, base::normalize({{within(time.start_ns), within(time.end_ns) + 1}}));
}

void RankOverview::fit(base::Interval extent, int cell_bits) {
  const std::lock_guard lock(mutex_);
  extent_ = extent;
  for (; rows_.cell_bits < cell_bits; ++rows_.cell_bits) {
    for (auto& [lane, row] : rows_.lanes) row.coarsen();
    rows_.classes.coarsen();
  }
}

bool RankOverview::fill_some(store::EventStore& store, const RankSnapshot& rank,
                             std::int64_t until_ns) {
  const int bits = rows_.cell_bits;
  base::Interval first_stale;
  {
    const std::shared_lock lock(mutex_);
    const base::Intervals stale = base::clip(stale_, extent_);
    if (stale.empty()) return false;
    first_stale = stale.front();
  }
  base::Interval cells = cells_around(first_stale, bits);
  cells.end_ns = std::min(cells.end_ns, cells.start_ns + kCellsPerCall);
  if (until_ns != INT64_MAX) cells.end_ns = std::min(cells.end_ns, cell_at(until_ns, bits));
  if (cells.end_ns <= cells.start_ns) return false;
  WindowCells found = window_cells(store, rank, bits, cells);
  const std::lock_guard lock(mutex_);
  for (const auto& [lane, row] : rows_.lanes) {
    found.lanes.try_emplace(lane, static_cast<std::size_t>(cells.length()));
  }
  for (const auto& [lane, sums] : found.lanes) rows_.lanes[lane].put(cells.start_ns, sums);
  rows_.classes.put(cells.start_ns, found.classes);
  // The last cell may reach beyond what is recorded so far: what comes there makes it stale again.
  const base::Interval filled{std::max(cells.start_ns << bits, extent_.start_ns),
                              std::min(cells.end_ns << bits, extent_.end_ns)};
  stale_ = base::subtract(stale_, {filled});
  return !base::clip(stale_, extent_).empty();
}

void RankOverview::restore(OverviewRows rows) {
  const std::lock_guard lock(mutex_);
  rows_ = std::move(rows);
  stale_.clear();
}

std::size_t RankOverview::cell_count() const {
  const std::shared_lock lock(mutex_);
  std::size_t sum = 2 * rows_.classes.cells.size();
  for (const auto& [lane, row] : rows_.lanes) sum += row.cells.size();
  return sum;
}

double RankOverview::fraction() const {
  const std::shared_lock lock(mutex_);
  if (extent_.length() <= 0) return 1;
  return 1 - static_cast<double>(base::length_within(stale_, extent_)) /
                 static_cast<double>(extent_.length());
}

std::vector<OverviewLane> RankOverview::lanes(int lane, model::EventKind kind) const {
  const std::shared_lock lock(mutex_);
  std::vector<OverviewLane> found;
  for (auto at = rows_.lanes.lower_bound({lane, kind, 0});
       at != rows_.lanes.end() && at->first.lane == lane && at->first.kind == kind; ++at) {
    found.push_back(at->first);
  }
  return found;
}

bool RankOverview::is_complete(int cell_bits, base::Interval window) const {
  const std::shared_lock lock(mutex_);
  // Cells have been made longer since the caller chose this length.
  if (cell_bits < rows_.cell_bits) return false;
  const base::Interval within{std::max(window.start_ns, extent_.start_ns),
                              std::min(window.end_ns, extent_.end_ns)};
  return within.length() <= 0 || base::length_within(stale_, within) == 0;
}

std::vector<timeline::SummaryCell> RankOverview::cells(const OverviewLane& lane, int cell_bits,
                                                       base::Interval window) const {
  const std::shared_lock lock(mutex_);
  std::vector<timeline::SummaryCell> cells;
  const auto row = rows_.lanes.find(lane);
  if (row == rows_.lanes.end()) return cells;
  const auto part_ns = static_cast<double>(cell_length_ns(rows_.cell_bits));
  visit_joined(
      row->second, rows_.cell_bits, std::max(cell_bits, rows_.cell_bits), window,
      [&](base::Interval time, const OverviewCell& cell, const Greatest& greatest) {
        if (cell.is_empty()) return;
        const double busiest = static_cast<double>(greatest.busy_ns) / part_ns;
        cells.push_back({time.start_ns, time.end_ns, cell.busy_ns, static_cast<float>(busiest),
                         cell.count, cell.longest_ns, cell.name});
      });
  return cells;
}

std::vector<timeline::ClassCell> RankOverview::classes(int cell_bits, base::Interval window) const {
  const std::shared_lock lock(mutex_);
  std::vector<timeline::ClassCell> cells;
  visit_joined(rows_.classes, rows_.cell_bits, std::max(cell_bits, rows_.cell_bits), window,
               [&](base::Interval time, const base::TimeByClass& cell, const Greatest&) {
                 cells.push_back({time.start_ns, time.end_ns, cell});
               });
  return cells;
}

}  // namespace shardlens::trace::explore
