#include "trace/timeline/pieces/ready_points.h"

#include <algorithm>

namespace shardlens::trace {

std::vector<ReadyPoint> ready_points(std::span<const ReadyPoint> marks, Interval window,
                                     PixelGrid grid) {
  const Interval columns = grid.around(window);
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

}  // namespace shardlens::trace
