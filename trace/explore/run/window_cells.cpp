#include "trace/explore/run/window_cells.h"

#include <algorithm>

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

}  // namespace

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

}  // namespace shardlens::trace::explore
