#include "trace/explore/find/neighbour_search.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "trace/explore/run/lane_events.h"

namespace shardlens::trace::explore {

namespace {

// So many chunks are read at once, on all threads.
constexpr std::size_t kChunksAtOnce = 64;

auto tie_order(const timeline::EventPlace& place) {
  return std::tuple(place.ref.rank, place.ref.table, place.ref.row, place.ref.index);
}

}  // namespace

void NeighbourSearch::offer(const timeline::EventPlace& place) {
  if (!is_on_side(place.start_ns)) return;
  if (best_ && best_->start_ns != place.start_ns) {
    if (is_next_ == (place.start_ns > best_->start_ns)) return;
  } else if (best_ && tie_order(*best_) < tie_order(place)) {
    return;
  }
  best_ = place;
}

bool NeighbourSearch::can_hold(const store::ChunkEntry& chunk) const {
  const bool reaches =
      is_next_ ? chunk.header.last_ns > from_ns_ : chunk.header.first_ns < from_ns_;
  if (!reaches || !best_) return reaches;
  const std::int64_t nearest = nearest_ns(chunk);
  return is_next_ ? nearest <= best_->start_ns : nearest >= best_->start_ns;
}

void NeighbourSearch::look_into(std::vector<store::ChunkEntry> chunks,
                                const std::vector<bool>& names, store::EventStore& store,
                                ChunkNames& chunk_names, const std::function<bool()>& wanted) {
  std::erase_if(chunks, [&](const store::ChunkEntry& chunk) { return !can_hold(chunk); });
  std::ranges::stable_sort(chunks, [&](const store::ChunkEntry& a, const store::ChunkEntry& b) {
    return is_next_ ? nearest_ns(a) < nearest_ns(b) : nearest_ns(a) > nearest_ns(b);
  });
  std::map<int, std::vector<bool>> ids;  // by rank
  for (std::size_t first = 0; first < chunks.size(); first += kChunksAtOnce) {
    if (!can_hold(chunks[first])) return;
    const auto some =
        std::span(chunks).subspan(first, std::min(kChunksAtOnce, chunks.size() - first));
    const auto found = chunk_names.of(some, wanted);
    if (!found.finished) return;
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (!found.counts[i] || !holds_any(*found.counts[i], names) || !can_hold(some[i])) continue;
      const auto columns = store.load(some[i]);
      if (!columns) continue;
      const auto [rank, is_new] = ids.try_emplace(some[i].rank);
      if (is_new) rank->second = ids_of_names(store, some[i].rank, names);
      look_at(some[i], **columns, rank->second);
    }
  }
}

void NeighbourSearch::look_at(const store::ChunkEntry& chunk, const store::EventColumns& columns,
                              const std::vector<bool>& wanted_ids) {
  const auto offer_event = [&](std::size_t i) {
    const model::StringId id = columns.name(i);
    if (id >= wanted_ids.size() || !wanted_ids[id] || !is_on_side(columns.start_ns(i))) {
      return false;
    }
    offer({{table_of(chunk.kind), chunk.rank, chunk.row_id, static_cast<std::uint32_t>(i)},
           columns.start_ns(i),
           columns.end_ns(i),
           -1});
    return true;
  };
  const std::size_t size = columns.size();
  if (!columns.is_ordered()) {
    for (std::size_t i = 0; i < size; ++i) offer_event(i);
  } else if (is_next_) {
    const std::size_t first = from_ns_ == INT64_MAX ? size : columns.first_from(from_ns_ + 1);
    for (std::size_t i = first; i < size && !offer_event(i); ++i) {
    }
  } else {
    // Of several that begin at once the first.
    std::optional<std::int64_t> hit_ns;
    for (std::size_t i = columns.first_from(from_ns_); i > 0; --i) {
      const std::int64_t start_ns = columns.start_ns(i - 1);
      if (hit_ns && start_ns != *hit_ns) break;
      if (offer_event(i - 1)) hit_ns = start_ns;
    }
  }
}

}  // namespace shardlens::trace::explore
