#include "trace/timeline/pieces/area_points.h"

#include <algorithm>

namespace shardlens::trace::timeline {

AreaScale area_scale(std::string_view unit, double highest, double most_watts) {
  if (unit == "%") return {0, std::max(100.0, highest)};
  if (unit == "share") return {0, 1};
  if (unit == "°C") return {20, std::max(100.0, highest)};
  if (unit == "W") return {0, std::max({1.0, highest, most_watts})};
  return {0, highest > 0 ? highest : 1};
}

std::vector<AreaPoint> area_points(std::span<const AreaSample> samples, base::Interval window,
                                   PixelGrid grid) {
  const base::Interval columns = grid.around(window);
  const auto first = std::ranges::lower_bound(samples, columns.start_ns, {}, &AreaSample::time_ns);
  std::vector<AreaPoint> points;
  if (first != samples.begin()) {
    const AreaSample& before = *std::prev(first);
    points.push_back({before.time_ns, before.value, before.value});
  }
  std::int64_t column_end_ns = columns.start_ns;
  std::int64_t count = 0;
  for (auto sample = first; sample != samples.end() && sample->time_ns < columns.end_ns; ++sample) {
    if (sample->time_ns >= column_end_ns) {
      column_end_ns = grid.start_of(grid.column_at(sample->time_ns) + 1);
      points.push_back({sample->time_ns, sample->value, sample->value});
      count = 1;
      continue;
    }
    AreaPoint& point = points.back();
    ++count;
    point.value += (sample->value - point.value) / static_cast<double>(count);
    point.highest = std::max(point.highest, sample->value);
  }
  return points;
}

std::vector<ReadyPoint> ready_points(std::span<const ReadyPoint> marks, base::Interval window,
                                     PixelGrid grid) {
  const base::Interval columns = grid.around(window);
  std::vector<ReadyPoint> points;
  std::int64_t column_end_ns = columns.start_ns;
  for (auto mark = std::ranges::lower_bound(marks, columns.start_ns, {}, &ReadyPoint::time_ns);
       mark != marks.end() && mark->time_ns < columns.end_ns; ++mark) {
    if (points.empty() || mark->time_ns >= column_end_ns) {
      column_end_ns = grid.start_of(grid.column_at(mark->time_ns) + 1);
      points.push_back(*mark);
    } else if (mark->bytes > points.back().bytes) {
      points.back() = *mark;
    }
  }
  return points;
}

}  // namespace shardlens::trace::timeline
