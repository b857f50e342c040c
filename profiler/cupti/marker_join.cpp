#include "profiler/cupti/marker_join.h"

#include <utility>

namespace shardlens::profiler {
namespace {

std::string full_name(const MarkerActivity& marker) {
  if (marker.domain.empty()) return std::string(marker.name);
  return std::string(marker.domain) + ": " + std::string(marker.name);
}

template <typename Rows>
int first_free(const Rows& rows) {
  int row = 0;
  while (row < RangeActivity::kMostDepth && rows[static_cast<std::size_t>(row)]) ++row;
  return row;
}

}  // namespace

void MarkerJoin::add(const MarkerActivity& marker) {
  if (marker.time_ns <= 0) return sink_.bad_timestamps();
  switch (marker.part) {
    case MarkerActivity::Part::kStart:
      return start(marker);
    case MarkerActivity::Part::kEnd:
      return end(marker);
    case MarkerActivity::Part::kMark:
      const std::string name = full_name(marker);
      return sink_.range(
          {marker.thread, first_free(rows_[marker.thread]), marker.time_ns, marker.time_ns, name});
  }
}

void MarkerJoin::start(const MarkerActivity& marker) {
  if (open_.size() >= kMostOpen) return sink_.unmatched(1);
  Rows& rows = rows_[marker.thread];
  const int depth = first_free(rows);
  rows.set(static_cast<std::size_t>(depth));
  open_[marker.id] = {full_name(marker), marker.thread, depth, marker.time_ns};
}

void MarkerJoin::end(const MarkerActivity& marker) {
  const auto found = open_.find(marker.id);
  if (found == open_.end()) return sink_.unmatched(1);
  const Open range = std::move(found->second);
  open_.erase(found);
  rows_[range.thread].reset(static_cast<std::size_t>(range.depth));
  if (marker.time_ns < range.start_ns) return sink_.bad_timestamps();
  sink_.range({range.thread, range.depth, range.start_ns, marker.time_ns, range.name});
}

}  // namespace shardlens::profiler
