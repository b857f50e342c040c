#include "trace/store/lod/write/lod_stream_writer.h"

#include <algorithm>
#include <iterator>

#include "trace/store/lod/lod_summary.h"

namespace shardlens::trace {

namespace {

// More memory is not kept for tiles to come, in events: what a busy stream closes at once. Given
// back and asked for again it would come with page faults.
constexpr std::size_t kMostSpare = std::size_t{1} << 16;

void order(std::vector<LodEvent>& events) {
  // As they are, mostly.
  if (std::ranges::is_sorted(events, {}, &LodEvent::start_ns)) return;
  std::ranges::stable_sort(events, {}, &LodEvent::start_ns);
}

}  // namespace

void LodStreamWriter::set_closed(std::int64_t tile) {
  closed_ = next_ = tile;
  closed_ns_ = tile > kLastLodTile ? INT64_MAX : tile << lod_tile_bits(0);
}

void LodStreamWriter::add_unusual(const LodEvent& event) {
  const std::int64_t first = first_tile(event), last = last_tile(event);
  if (is_long(event)) {
    long_events_.push_back(event);
    new_long_events_.push_back(event);
    add_edge(first, event);
    add_edge(last, event);
    return;
  }
  if (first < closed_) spoil(first, std::min(last, closed_ - 1));
  if (last >= closed_) carried_.push_back(event);
}

void LodStreamWriter::add_edge(std::int64_t tile, const LodEvent& event) {
  if (tile < closed_) return spoil(tile, tile);
  edges_.push_back({tile, event});
}

void LodStreamWriter::spoil(std::int64_t first, std::int64_t last) {
  // Where one event is late, many are.
  if (!spoiled_.empty()) {
    LodSpoiled& known = spoiled_.back();
    if (first >= known.first && first <= known.last + 1) {
      known.last = std::max(known.last, last);
      return;
    }
  }
  spoiled_.push_back({number_, first, last});
}

void LodStreamWriter::find_begun(std::int64_t tile) {
  const auto [place, is_new] = begun_.try_emplace(tile);
  if (is_new && !spare_.empty()) {
    place->second = std::move(spare_.back());
    spare_.pop_back();
    spare_events_ -= place->second.capacity();
  }
  latest_ = &place->second;
  latest_tile_ = tile;
}

LodStreamWriter::Events LodStreamWriter::take_begun(std::int64_t tile) {
  const auto node = begun_.extract(tile);
  if (node.empty()) return {};
  latest_ = nullptr;
  pending_ -= node.mapped().size();
  return std::move(node.mapped());
}

std::optional<std::int64_t> LodStreamWriter::next_tile() const {
  if (!carried_.empty()) return next_;
  std::optional<std::int64_t> next;
  if (!begun_.empty()) next = begun_.begin()->first;
  for (const Edge& edge : edges_) next = std::min(next.value_or(edge.tile), edge.tile);
  return next;
}

LodTile LodStreamWriter::summarize_with_edges(std::int64_t tile, const Events& begun) {
  Events events = carried_;
  events.insert(events.end(), begun.begin(), begun.end());
  std::erase_if(edges_, [&](const Edge& edge) {
    if (edge.tile == tile) events.push_back(edge.event);
    return edge.tile == tile;
  });
  order(events);
  return summarize(tile, events);
}

// Takes what ends in the tile from what is pending.
LodTile LodStreamWriter::summarize_next(std::int64_t tile) {
  Events begun = take_begun(tile);
  order(begun);
  const bool has_edges =
      std::ranges::any_of(edges_, [&](const Edge& edge) { return edge.tile == tile; });
  LodTile summary =
      has_edges ? summarize_with_edges(tile, begun) : summarize(tile, carried_, begun);
  const auto ends = [&](const LodEvent& event) { return last_tile(event) <= tile; };
  std::erase_if(carried_, ends);
  std::ranges::remove_copy_if(begun, std::back_inserter(carried_), ends);
  keep_spare(std::move(begun));
  return summary;
}

void LodStreamWriter::keep_spare(Events&& events) {
  const std::size_t capacity = events.capacity();
  if (capacity == 0 || spare_events_ + capacity > kMostSpare) return;
  events.clear();
  spare_events_ += capacity;
  spare_.push_back(std::move(events));
}

LodPyramid::Complete LodStreamWriter::cover_with_long_events() const {
  return [this](LodTile& tile, unsigned) {
    for (const LodEvent& event : long_events_) cover(tile, event);
  };
}

Result<void> LodStreamWriter::close_before(std::int64_t limit, const LodPyramid::Write& write) {
  const auto complete = cover_with_long_events();
  for (auto next = next_tile(); next && *next < limit; next = next_tile()) {
    LodTile tile = summarize_next(*next);
    next_ = *next + 1;
    complete(tile, 0);
    TRY(pyramid_.add(tile, complete, write));
  }
  TRY(pyramid_.close_before(limit, complete, write));
  set_closed(limit);
  forget_closed();
  return {};
}

Result<void> LodStreamWriter::close_all(const LodPyramid::Write& write) {
  TRY(close_before(kLastLodTile + 1, write));
  return pyramid_.close_all(cover_with_long_events(), write);
}

void LodStreamWriter::forget_closed() {
  constexpr int kTop = kLodLevels - 1;
  const std::int64_t open = closed_ >> (kLodFactorBits * kTop);
  std::erase_if(long_events_,
                [&](const LodEvent& event) { return lod_tile_at(kTop, event.end_ns) < open; });
}

}  // namespace shardlens::trace
