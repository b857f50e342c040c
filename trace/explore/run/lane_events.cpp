#include "trace/explore/run/lane_events.h"

#include <algorithm>
#include <iterator>

#include "trace/timeline/values/timeline_rows.h"

namespace shardlens::trace::explore {

namespace {

// Whether its events are in order of start and none ends before it begins.
bool is_plain(const store::EventColumns& columns) {
  if (!columns.is_ordered()) return false;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns.duration_ns(i) < 0) return false;
  }
  return true;
}

}  // namespace

timeline::EventTableKind table_of(model::EventKind kind) {
  const auto shown = std::ranges::find(timeline::kShownKinds, kind, &timeline::ShownKind::kind);
  return shown == timeline::kShownKinds.end() ? timeline::EventTableKind::kAllocation
                                              : shown->table;
}

std::span<const store::ChunkEntry> chunks_of_rank(std::span<const store::ChunkEntry> chunks,
                                                  int rank) {
  const auto found = std::ranges::equal_range(chunks, rank, {}, &store::ChunkEntry::rank);
  return {found.begin(), found.end()};
}

std::vector<store::ChunkEntry> chunks_of(const store::EventStore& store, int rank,
                                         model::EventKind kind) {
  const auto all = store.chunks();
  std::vector<store::ChunkEntry> chunks;
  std::ranges::copy_if(chunks_of_rank(*all, rank), std::back_inserter(chunks),
                       [kind](const store::ChunkEntry& chunk) { return chunk.kind == kind; });
  return chunks;
}

std::optional<store::ChunkEntry> chunk_of(const store::EventStore& store,
                                          const timeline::EventRef& event) {
  const auto all = store.chunks();
  for (const store::ChunkEntry& chunk : chunks_of_rank(*all, event.rank)) {
    if (chunk.row_id == event.row && table_of(chunk.kind) == event.table) return chunk;
  }
  return std::nullopt;
}

LaneEvents::LaneEvents(store::EventStore& store, int rank, int lane, model::EventKind kind,
                       base::Interval window)
    : window_(window) {
  std::int64_t last_start_ns = INT64_MIN;
  for (const store::ChunkEntry& chunk :
       store.chunks_in(rank, lane, kind, window.start_ns, window.end_ns)) {
    auto columns = store.load(chunk);
    if (!columns) {
      is_complete_ = false;
      continue;
    }
    const std::size_t size = (*columns)->size();
    if (size == 0) continue;
    is_sorted_ = is_sorted_ && is_plain(**columns) && (*columns)->start_ns(0) >= last_start_ns;
    last_start_ns = (*columns)->start_ns(size - 1);
    parts_.push_back({chunk, std::move(*columns)});
  }
}

std::vector<LaneEvents::Place> LaneEvents::places() const {
  std::vector<Place> result;
  for (std::uint32_t part = 0; part < parts_.size(); ++part) {
    const store::EventColumns& columns = *parts_[part].columns;
    for (std::uint32_t i = 0; i < columns.size(); ++i) {
      const base::Interval time =
          timeline::drawn_event_time(columns.start_ns(i), columns.duration_ns(i));
      if (timeline::is_drawn_in(time, window_)) result.push_back({time, part, i});
    }
  }
  std::ranges::stable_sort(result, {}, [](const Place& place) { return place.time.start_ns; });
  return result;
}

}  // namespace shardlens::trace::explore
