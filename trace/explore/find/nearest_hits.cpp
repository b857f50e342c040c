#include "trace/explore/find/nearest_hits.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "trace/explore/run/lane_events.h"

namespace shardlens::trace::explore {

namespace {

// So many chunks are read at once, on all threads.
constexpr std::size_t kChunksAtOnce = 64;

}  // namespace

bool NearestHits::is_nearer(const timeline::EventPlace& a, const timeline::EventPlace& b) const {
  if (a.start_ns != b.start_ns) return is_beyond(b.start_ns, a.start_ns);
  const auto order = [](const timeline::EventRef& ref) {
    return std::tuple(ref.rank, ref.table, ref.row, ref.index);
  };
  return order(a.ref) < order(b.ref);
}

void NearestHits::offer(const timeline::EventPlace& place) {
  if (!can_take(place.start_ns)) return;
  const auto nearer = [this](const auto& a, const auto& b) { return is_nearer(a, b); };
  if (hits_.size() == wanted_.most) {
    if (!is_nearer(place, hits_.front())) return;
    std::ranges::pop_heap(hits_, nearer);
    hits_.pop_back();
  }
  hits_.push_back(place);
  std::ranges::push_heap(hits_, nearer);
}

bool NearestHits::can_hold(const store::ChunkEntry& chunk) const {
  return chunk.header.first_ns <= wanted_.last_ns && chunk.header.last_ns >= wanted_.first_ns &&
         has_room_at(nearest_ns(chunk));
}

void NearestHits::look_into(std::vector<store::ChunkEntry> chunks, const std::vector<bool>& names,
                            store::EventStore& store, ChunkNames& chunk_names,
                            const std::function<bool()>& go_on) {
  std::erase_if(chunks, [&](const store::ChunkEntry& chunk) { return !can_hold(chunk); });
  std::ranges::stable_sort(chunks, [&](const store::ChunkEntry& a, const store::ChunkEntry& b) {
    return is_beyond(nearest_ns(b), nearest_ns(a));
  });
  std::map<int, std::vector<bool>> ids;  // by rank
  for (std::size_t first = 0; first < chunks.size(); first += kChunksAtOnce) {
    if (!can_hold(chunks[first])) return;
    const auto some =
        std::span(chunks).subspan(first, std::min(kChunksAtOnce, chunks.size() - first));
    const auto found = chunk_names.of(some, go_on);
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

void NearestHits::look_at(const store::ChunkEntry& chunk, const store::EventColumns& columns,
                          const std::vector<bool>& wanted_ids) {
  // False: it has the name, and lies too far away.
  const auto offer_event = [&](std::size_t i) {
    const model::StringId id = columns.name(i);
    if (id >= wanted_ids.size() || !wanted_ids[id]) return true;
    if (!can_take(columns.start_ns(i))) return false;
    offer({{table_of(chunk.kind), chunk.rank, chunk.row_id, static_cast<std::uint32_t>(i)},
           columns.start_ns(i),
           columns.end_ns(i),
           -1});
    return true;
  };
  const std::size_t size = columns.size();
  if (!columns.is_ordered()) {
    for (std::size_t i = 0; i < size; ++i) offer_event(i);
  } else if (wanted_.is_backward) {
    std::size_t i = wanted_.last_ns == INT64_MAX ? size : columns.first_from(wanted_.last_ns + 1);
    while (i > 0 && offer_event(i - 1)) --i;
  } else {
    for (std::size_t i = columns.first_from(wanted_.first_ns); i < size && offer_event(i); ++i) {
    }
  }
}

std::vector<timeline::EventPlace> NearestHits::take() {
  std::ranges::sort(hits_, [this](const auto& a, const auto& b) { return is_nearer(a, b); });
  return std::exchange(hits_, {});
}

}  // namespace shardlens::trace::explore
