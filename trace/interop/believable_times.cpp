#include "trace/interop/believable_times.h"

namespace shardlens::trace::interop {

void BelievableTimes::choose() {
  std::int64_t most = 0, in_row = 0, first = 0;
  bool is_first = true;
  std::int64_t before = 0;
  for (const auto& [day, events] : events_) {
    if (is_first || day != before + 1) {
      in_row = 0;
      first = day;
    }
    is_first = false;
    before = day;
    in_row += events;
    if (in_row < most) continue;
    most = in_row;
    first_day_ = first;
    last_day_ = day;
  }
}

std::string_view BelievableTimes::objection(std::int64_t start_ns, std::int64_t end_ns) const {
  const std::int64_t day = start_ns / kDay;
  if (day < first_day_) return "their times lie days before all others";
  if (day > last_day_) return "their times lie days behind all others";
  if (end_ns / kDay > last_day_ + 1) {
    return "they end days behind all others";
  }
  return {};
}

}  // namespace shardlens::trace::interop
