#include "ui/inspect/timeline/timeline_means.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ui/inspect/timeline/timeline_window.h"

namespace shardlens::ui::inspect {

namespace {

using trace::timeline::RibbonColumn;

using Shares = std::array<double, trace::base::kPartitionClasses>;

// Nanoseconds by class from the first column up to any time, for times that only grow.
class RibbonIntegral {
 public:
  explicit RibbonIntegral(const std::vector<RibbonColumn>& columns) : columns_(columns) {}

  const Shares& up_to(double time) {
    for (; index_ < columns_.size() && end(index_) <= time; ++index_) {
      add(whole_, index_, end(index_));
    }
    at_ = whole_;
    if (index_ < columns_.size() && start(index_) < time) add(at_, index_, time);
    return at_;
  }

 private:
  double start(std::size_t i) const {
    return distance_ns(columns_[i].start_ns, columns_.front().start_ns);
  }
  double end(std::size_t i) const {
    return distance_ns(columns_[i].end_ns, columns_.front().start_ns);
  }
  void add(Shares& sum, std::size_t i, double until) const {
    for (std::size_t k = 0; k < sum.size(); ++k) {
      sum[k] += (until - start(i)) * static_cast<double>(columns_[i].share[k]);
    }
  }

  const std::vector<RibbonColumn>& columns_;
  std::size_t index_ = 0;
  Shares whole_{}, at_{};
};

}  // namespace

std::vector<RibbonColumn> mean_columns(const std::vector<RibbonColumn>& columns,
                                       std::int64_t smooth_ns) {
  if (columns.empty()) return {};
  std::vector<RibbonColumn> out = columns;
  RibbonIntegral low(columns), high(columns);
  const double half = static_cast<double>(smooth_ns) / 2;
  const double all = distance_ns(columns.back().end_ns, columns.front().start_ns);
  for (RibbonColumn& column : out) {
    const double start = distance_ns(column.start_ns, columns.front().start_ns);
    const double middle = start + distance_ns(column.end_ns, column.start_ns) / 2;
    const double from = std::max(middle - half, 0.0), to = std::min(middle + half, all);
    const Shares before = low.up_to(from);
    const Shares& behind = high.up_to(to);
    for (std::size_t k = 0; k < before.size(); ++k) {
      column.share[k] =
          static_cast<float>(std::max(behind[k] - before[k], 0.0) / std::max(to - from, 1.0));
    }
  }
  return out;
}

std::vector<trace::timeline::AreaPoint> mean_area(
    const std::vector<trace::timeline::AreaPoint>& points, std::int64_t smooth_ns) {
  std::vector<trace::timeline::AreaPoint> out = points;
  const double half = static_cast<double>(smooth_ns) / 2;
  std::size_t first = 0, behind = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto away = [&](std::size_t j) {
      return std::abs(distance_ns(points[j].time_ns, points[i].time_ns));
    };
    while (first < i && away(first) > half) ++first;
    behind = std::max(behind, i + 1);
    while (behind < points.size() && away(behind) <= half) ++behind;
    double sum = 0;
    for (std::size_t j = first; j < behind; ++j) {
      sum += points[j].value;
      out[i].highest = std::max(out[i].highest, points[j].highest);
    }
    out[i].value = sum / static_cast<double>(behind - first);
  }
  return out;
}

const RowMeans::Kept& RowMeans::kept(const trace::timeline::RowPicture& row,
                                     std::int64_t smooth_ns) {
  Kept& kept = kept_[&row];
  if (kept.smooth_ns != smooth_ns) {
    kept = {smooth_ns, mean_columns(row.columns, smooth_ns), mean_area(row.area, smooth_ns)};
  }
  return kept;
}

}  // namespace shardlens::ui::inspect
