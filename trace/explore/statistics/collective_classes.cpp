#include "trace/explore/statistics/collective_classes.h"

#include <algorithm>

#include "trace/explore/run/window_activity.h"
#include "trace/timeline/pieces/collective_parts.h"

namespace shardlens::trace {

namespace {

constexpr std::int64_t kMostCells = 1 << 16;

// What communication did in a stretch of time, summed from the first cell on.
class CommunicationSums {
 public:
  explicit CommunicationSums(std::vector<ClassCell> cells) : cells_(std::move(cells)) {
    overlapped_.push_back(0);
    exposed_.push_back(0);
    for (const ClassCell& cell : cells_) {
      overlapped_.push_back(overlapped_.back() + cell.ns[index_of(TimeClass::kOverlapped)]);
      exposed_.push_back(exposed_.back() + cell.ns[index_of(TimeClass::kExposed)]);
    }
  }

  TimeClass class_of(Interval time) const {
    const auto first = static_cast<std::size_t>(
        std::ranges::upper_bound(cells_, time.start_ns, {}, &ClassCell::end_ns) - cells_.begin());
    const auto last = static_cast<std::size_t>(
        std::ranges::lower_bound(cells_, time.end_ns, {}, &ClassCell::start_ns) - cells_.begin());
    if (first >= last) return TimeClass::kExposed;
    return overlapped_[last] - overlapped_[first] > exposed_[last] - exposed_[first]
               ? TimeClass::kOverlapped
               : TimeClass::kExposed;
  }

 private:
  std::vector<ClassCell> cells_;  // by start
  std::vector<std::int64_t> overlapped_, exposed_;
};

int level_for(std::int64_t length) {
  int level = 0;
  while (level + 1 < kLodLevels && length / lod_cell_ns(level) > kMostCells) ++level;
  return level;
}

Interval window_of(const RankSnapshot& rank, const TimeRange& range) {
  return {std::max(range.start_ns, rank.extent.start_ns),
          std::min(range.end_ns, rank.extent.end_ns)};
}

}  // namespace

std::vector<TimeClass> collective_classes(const RunSnapshot& run, const RankSnapshot& rank,
                                          const TimeRange& range, std::int64_t longest_exact) {
  const auto& collectives = rank.rows->collectives;
  std::vector<TimeClass> classes(collectives.size(), TimeClass::kExposed);
  Interval window = window_of(rank, range);
  if (window.length() <= 0 || classes.empty()) return classes;
  const auto classify = [&](const auto& class_of) {
    const auto begin =
        std::ranges::lower_bound(collectives.rows, window.start_ns, {}, &Collective::start_ns);
    for (auto row = begin; row != collectives.rows.end() && row->start_ns < window.end_ns; ++row) {
      classes[static_cast<std::size_t>(row - collectives.rows.begin())] =
          class_of(drawn_time(row->start_ns, row->end_ns));
    }
  };
  if (window.length() <= longest_exact) {
    // The last ones end behind the range.
    const Interval around{window.start_ns,
                          std::min(window.end_ns + longest_exact, rank.extent.end_ns)};
    const Intervals compute = window_activity(*run.store, rank, around).compute;
    classify([&](Interval time) { return communication_class(time, compute); });
    return classes;
  }
  auto cells = rank.source->read_classes(level_for(window.length()), window);
  if (!cells) return classes;
  const CommunicationSums sums(std::move(cells->cells));
  classify([&](Interval time) { return sums.class_of(time); });
  return classes;
}

}  // namespace shardlens::trace
