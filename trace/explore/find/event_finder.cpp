#include "trace/explore/find/event_finder.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "trace/explore/run/lane_events.h"
#include "trace/timeline/values/drawn_event.h"
#include "trace/timeline/words/row_catalogue.h"

namespace shardlens::trace::explore {

namespace {

// Launch and kernel lie a step or two apart at most; a chunk takes some tenths of a millisecond.
constexpr std::size_t kMostChunksLookedInto = 128;
constexpr std::int64_t kFarthestNs = 60'000'000'000;

std::int64_t distance(const store::ChunkEntry& chunk, std::int64_t time_ns) {
  const base::Interval time = timeline::drawn_time(chunk.header.first_ns, chunk.header.last_ns);
  if (time_ns < time.start_ns) return time.start_ns - time_ns;
  return std::max<std::int64_t>(0, time_ns - time.end_ns);
}

}  // namespace

base::Result<FoundEvent> EventFinder::at(const timeline::EventRef& ref) const {
  if (const auto chunk = chunk_of(*run_.store, ref)) {
    TRY_ASSIGN(const std::vector<model::Event> events, run_.store->load_whole(*chunk));
    if (ref.index < events.size()) return FoundEvent{*chunk, ref.index, events[ref.index]};
  }
  return base::fail(base::ErrorKind::kMissing,
                    "the event is not in the trace (any more): pick it in the timeline again");
}

std::vector<store::ChunkEntry> EventFinder::nearest_chunks(int rank, model::EventKind kind,
                                                           std::int64_t near_ns) const {
  std::vector<store::ChunkEntry> chunks = chunks_of(*run_.store, rank, kind);
  std::erase_if(chunks, [&](const auto& chunk) { return distance(chunk, near_ns) > kFarthestNs; });
  std::ranges::stable_sort(chunks, {}, [&](const auto& chunk) { return distance(chunk, near_ns); });
  if (chunks.size() > kMostChunksLookedInto) chunks.resize(kMostChunksLookedInto);
  return chunks;
}

std::optional<FoundEvent> EventFinder::correlated(int rank, model::EventKind kind,
                                                  std::uint64_t correlation,
                                                  std::int64_t near_ns) const {
  if (correlation == 0) return std::nullopt;
  for (const store::ChunkEntry& chunk : nearest_chunks(rank, kind, near_ns)) {
    const auto events = run_.store->load_whole(chunk);
    if (!events) continue;
    // A number may come again in a long run: the nearest is meant.
    std::optional<FoundEvent> nearest;
    std::uint64_t nearest_ns = UINT64_MAX;
    for (std::uint32_t i = 0; i < events->size(); ++i) {
      const model::Event& event = (*events)[i];
      if (event.correlation != correlation) continue;
      const auto away = static_cast<std::uint64_t>(
          timeline::drawn_time(near_ns, timeline::drawn_instant(event.start_ns)).length());
      if (away >= nearest_ns) continue;
      nearest_ns = away;
      nearest = FoundEvent{chunk, i, event};
    }
    if (nearest) return nearest;
  }
  return std::nullopt;
}

std::optional<FoundEvent> EventFinder::operator_at(int rank, int lane, std::int64_t time_ns) const {
  std::optional<FoundEvent> deepest;
  int depth = -1;
  const base::Interval moment{time_ns, time_ns + 1};
  LaneEvents(*run_.store, rank, lane, model::EventKind::kOperator, moment)
      .visit([&](const store::ChunkEntry& chunk, const store::EventColumns& columns, std::size_t i,
                 base::Interval) {
        if (columns.depth(i) <= depth) return;
        depth = columns.depth(i);
        deepest = FoundEvent{chunk, static_cast<std::uint32_t>(i), {}};
        deepest->event.start_ns = columns.start_ns(i);
        deepest->event.duration_ns = columns.duration_ns(i);
        deepest->event.name = columns.name(i);
        deepest->event.flags = columns.flags(i);
      });
  return deepest;
}

std::vector<FoundEvent> EventFinder::launches_in(int rank, int lane, base::Interval time) const {
  std::vector<FoundEvent> launches;
  std::vector<model::Event> events;
  std::int64_t loaded = -1;  // neighbours are of one chunk
  LaneEvents(*run_.store, rank, lane, model::EventKind::kLaunch, time)
      .visit([&](const store::ChunkEntry& chunk, const store::EventColumns&, std::size_t i,
                 base::Interval drawn) {
        if (drawn.start_ns < time.start_ns) return;
        if (chunk.row_id != loaded) {
          auto whole = run_.store->load_whole(chunk);
          events = whole ? std::move(*whole) : std::vector<model::Event>();
          loaded = chunk.row_id;
        }
        if (i >= events.size()) return;
        launches.push_back({chunk, static_cast<std::uint32_t>(i), events[i]});
      });
  return launches;
}

std::vector<FoundEvent> EventFinder::started_by(std::span<const FoundEvent> launches,
                                                model::EventKind kind) const {
  std::unordered_map<std::uint64_t, std::int64_t> launched_ns;  // by correlation
  for (const FoundEvent& launch : launches) {
    if (launch.event.correlation != 0) {
      launched_ns[launch.event.correlation] = timeline::drawn_instant(launch.event.start_ns);
    }
  }
  if (launched_ns.empty()) return {};
  const std::int64_t first_ns = timeline::drawn_instant(launches.front().event.start_ns);
  std::unordered_map<std::uint64_t, FoundEvent> nearest;
  const auto away = [&](const model::Event& event) {
    return timeline::drawn_time(launched_ns[event.correlation],
                                timeline::drawn_instant(event.start_ns))
        .length();
  };
  for (const store::ChunkEntry& chunk :
       nearest_chunks(launches.front().chunk.rank, kind, first_ns)) {
    const auto events = run_.store->load_whole(chunk);
    if (!events) continue;
    for (std::uint32_t i = 0; i < events->size(); ++i) {
      const model::Event& event = (*events)[i];
      if (!launched_ns.contains(event.correlation)) continue;
      const auto [found, is_new] =
          nearest.try_emplace(event.correlation, FoundEvent{chunk, i, event});
      if (!is_new && away(event) < away(found->second.event)) found->second = {chunk, i, event};
    }
    if (nearest.size() == launched_ns.size()) break;
  }
  std::vector<FoundEvent> started;
  for (auto& [correlation, found] : nearest) started.push_back(std::move(found));
  std::ranges::sort(started, {}, [](const FoundEvent& found) { return found.event.start_ns; });
  return started;
}

std::vector<timeline::EventPlace> EventFinder::same_name(const FoundEvent& event,
                                                         base::Interval time) const {
  std::vector<timeline::EventPlace> places;
  LaneEvents(*run_.store, event.chunk.rank, event.chunk.lane, event.chunk.kind, time)
      .visit([&](const store::ChunkEntry& chunk, const store::EventColumns& columns, std::size_t i,
                 base::Interval drawn) {
        if (columns.name(i) != event.event.name || drawn.start_ns < time.start_ns) return;
        places.push_back(place_of(chunk, static_cast<std::uint32_t>(i), drawn));
      });
  return places;
}

std::optional<timeline::EventPlace> EventFinder::longest_of_name(const FoundEvent& event) const {
  const auto chunks = chunks_of(*run_.store, event.chunk.rank, event.chunk.kind);
  std::optional<timeline::EventPlace> longest;
  std::mutex mutex;
  run_.store->visit(
      chunks, [&](int, const store::ChunkEntry& chunk, const store::EventColumns& columns) {
        std::int64_t most = -1;
        std::uint32_t at = 0;
        for (std::uint32_t i = 0; i < columns.size(); ++i) {
          if (columns.name(i) != event.event.name || columns.duration_ns(i) <= most) continue;
          most = columns.duration_ns(i);
          at = i;
        }
        if (most < 0) return;
        const std::lock_guard lock(mutex);
        if (longest && longest->end_ns - longest->start_ns >= most) return;
        longest = place_of(chunk, at, timeline::drawn_event_time(columns.start_ns(at), most));
      });
  return longest;
}

timeline::EventPlace EventFinder::place_of(const store::ChunkEntry& chunk, std::uint32_t index,
                                           base::Interval time) const {
  const timeline::EventTableKind table = table_of(chunk.kind);
  return {{table, chunk.rank, chunk.row_id, index},
          time.start_ns,
          time.end_ns,
          timeline::row_of(*run_.rows, table, chunk.rank, chunk.lane)};
}

timeline::EventPlace EventFinder::place_of(const FoundEvent& event) const {
  return place_of(event.chunk, event.index,
                  timeline::drawn_event_time(event.event.start_ns, event.event.duration_ns));
}

}  // namespace shardlens::trace::explore
