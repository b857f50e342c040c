#include "trace/store/lod_stream_writer.h"

#include <algorithm>
#include <span>

#include "trace/store/lod_summary.h"

namespace shardlens::trace {

namespace {

bool starts_before(const LodEvent& a, const LodEvent& b) { return a.start_ns < b.start_ns; }

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
  if (last >= closed_) push(event);
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

std::optional<std::int64_t> LodStreamWriter::next_tile() const {
  std::optional<std::int64_t> next;
  if (head_ < pending_.size()) next = std::max(next_, first_tile(pending_[head_]));
  for (const Edge& edge : edges_) next = std::min(next.value_or(edge.tile), edge.tile);
  return next;
}

// Takes what ends in the tile from what is pending.
LodTile LodStreamWriter::summarize_next(std::int64_t tile) {
  const auto begin = pending_.begin() + static_cast<std::ptrdiff_t>(head_);
  const auto end = std::partition_point(
      begin, pending_.end(), [&](const LodEvent& event) { return first_tile(event) <= tile; });
  std::span<const LodEvent> events(begin, end);
  if (std::ranges::any_of(edges_, [&](const Edge& edge) { return edge.tile == tile; })) {
    scratch_.assign(begin, end);
    for (const Edge& edge : edges_) {
      if (edge.tile == tile) scratch_.push_back(edge.event);
    }
    std::erase_if(edges_, [&](const Edge& edge) { return edge.tile == tile; });
    std::ranges::stable_sort(scratch_, starts_before);
    events = scratch_;
  }
  const LodTile summary = summarize(tile, events);
  auto kept = end;
  for (auto i = end; i != begin;) {
    --i;
    if (last_tile(*i) > tile) *--kept = *i;
  }
  head_ = static_cast<std::size_t>(kept - pending_.begin());
  return summary;
}

LodPyramid::Complete LodStreamWriter::cover_with_long_events() const {
  return [this](LodTile& tile, unsigned) {
    for (const LodEvent& event : long_events_) cover(tile, event);
  };
}

Result<void> LodStreamWriter::close_before(std::int64_t limit, const LodPyramid::Write& write) {
  if (!is_sorted_) {
    std::stable_sort(pending_.begin() + static_cast<std::ptrdiff_t>(head_), pending_.end(),
                     starts_before);
    is_sorted_ = true;
  }
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
  if (head_ > pending_.size() / 2) {
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }
  constexpr int kTop = kLodLevels - 1;
  const std::int64_t open = closed_ >> (kLodFactorBits * kTop);
  std::erase_if(long_events_,
                [&](const LodEvent& event) { return lod_tile_at(kTop, event.end_ns) < open; });
}

}  // namespace shardlens::trace
