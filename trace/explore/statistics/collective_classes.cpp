#include "trace/explore/statistics/collective_classes.h"

#include <algorithm>

#include "trace/base/saturated.h"
#include "trace/explore/run/window_activity.h"
#include "trace/timeline/pieces/collective_parts.h"

namespace shardlens::trace {

std::vector<TimeClass> collective_classes(const RunSnapshot& run, const RankSnapshot& rank,
                                          const TimeRange& range, std::int64_t stretch_ns) {
  const auto& rows = rank.rows->collectives.rows;
  std::vector<TimeClass> classes(rows.size(), TimeClass::kExposed);
  const auto time_of = [&](std::size_t i) { return drawn_time(rows[i].start_ns, rows[i].end_ns); };
  const auto first_from = [&](std::int64_t time_ns) {
    return static_cast<std::size_t>(
        std::ranges::partition_point(rows,
                                     [&](const Collective& row) {
                                       return drawn_time(row.start_ns, row.end_ns).start_ns <
                                              time_ns;
                                     }) -
        rows.begin());
  };
  const std::size_t end = first_from(range.end_ns);
  for (std::size_t at = first_from(range.start_ns); at < end;) {
    const std::size_t first = at;
    Interval window = time_of(first);
    const std::int64_t last_start_ns = saturated_add(window.start_ns, stretch_ns);
    for (++at; at < end && time_of(at).start_ns < last_start_ns; ++at) {
      window.end_ns = std::max(window.end_ns, time_of(at).end_ns);
    }
    const Intervals compute = window_activity(*run.store, rank, window).compute;
    for (std::size_t i = first; i < at; ++i) classes[i] = communication_class(time_of(i), compute);
  }
  return classes;
}

}  // namespace shardlens::trace
