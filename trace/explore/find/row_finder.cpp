#include "trace/explore/find/row_finder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "trace/explore/find/event_finder.h"
#include "trace/explore/run/lane_events.h"
#include "trace/timeline/words/row_catalogue.h"

namespace shardlens::trace::explore {

std::optional<std::uint32_t> index_of(const RankRows& rows, const analysis::CollectivePart& part) {
  const auto& ids = rows.collectives.ids;
  if (part.index < ids.size() && ids[part.index] == part.row) return part.index;
  const auto found = std::ranges::find(ids, part.row);
  if (found == ids.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - ids.begin());
}

namespace {

template <typename Row>
std::optional<int> lane_of_row(const TimedRows<Row>& rows, std::int64_t id) {
  const auto index = row_index(rows, id);
  return index ? std::optional(rows.rows[*index].lane) : std::nullopt;
}

std::optional<int> lane_of(const RunSnapshot& run, const timeline::EventRef& event) {
  const RankSnapshot* const rank = run.rank(event.rank);
  if (rank == nullptr) return std::nullopt;
  if (event.table == timeline::EventTableKind::kSpan)
    return lane_of_row(rank->rows->spans, event.row);
  if (event.table == timeline::EventTableKind::kCollective) {
    return lane_of_row(rank->rows->collectives, event.row);
  }
  const auto chunk = chunk_of(*run.store, event);
  return chunk ? std::optional(chunk->lane) : std::nullopt;
}

// How far is searched at first, then four times as far each time until something is found.
constexpr std::int64_t kFirstReachNs = 1'000'000;
constexpr std::int64_t kMostReachNs = 2 * base::kLatestTimeNs;  // from the first time to the last

template <typename Row, typename Same>
std::optional<timeline::EventPlace> neighbour_row(const RunSnapshot& run,
                                                  timeline::EventTableKind table, int rank,
                                                  const TimedRows<Row>& rows, std::int64_t id,
                                                  int direction, Same is_same) {
  const auto own = row_index(rows, id);
  if (!own) return std::nullopt;
  const auto step = static_cast<std::ptrdiff_t>(direction < 0 ? -1 : 1);
  const auto size = static_cast<std::ptrdiff_t>(rows.size());
  for (std::ptrdiff_t at = *own + step; at >= 0 && at < size; at += step) {
    const auto other = static_cast<std::uint32_t>(at);
    if (is_same(rows.rows[*own], rows.rows[other])) {
      return place_of_row(run, table, rank, rows, other);
    }
  }
  return std::nullopt;
}

class BulkNeighbour {
 public:
  BulkNeighbour(const RunSnapshot& run, FoundEvent own)
      : run_(run),
        finder_(run),
        own_(std::move(own)),
        time_(timeline::drawn_event_time(own_.event.start_ns, own_.event.duration_ns)) {}

  std::optional<timeline::EventPlace> find(bool behind) const {
    const base::Interval all = lane_extent();
    for (std::int64_t reach = std::max(kFirstReachNs, time_.length());;
         reach = reach > kMostReachNs / 4 ? kMostReachNs : reach * 4) {
      const base::Interval window{
          behind ? time_.start_ns : std::max(all.start_ns, time_.start_ns - reach),
          behind ? std::min(all.end_ns, time_.start_ns + reach) : time_.start_ns + 1};
      if (auto found = find_in(window, behind)) return found;
      if (behind ? window.end_ns >= all.end_ns : window.start_ns <= all.start_ns) return {};
    }
  }

 private:
  base::Interval lane_extent() const {
    base::Interval all{time_.start_ns, time_.start_ns + 1};
    for (const store::ChunkEntry& chunk :
         chunks_of(*run_.store, own_.chunk.rank, own_.chunk.kind)) {
      if (chunk.lane != own_.chunk.lane) continue;
      const base::Interval time = timeline::drawn_time(chunk.header.first_ns, chunk.header.last_ns);
      all.start_ns = std::min(all.start_ns, time.start_ns);
      all.end_ns = std::max(all.end_ns, time.end_ns + 1);
    }
    return all;
  }

  std::optional<timeline::EventPlace> find_in(base::Interval window, bool behind) const {
    std::optional<timeline::EventPlace> before, after;
    bool passed_own = false;
    const int level = own_.event.depth();
    LaneEvents(*run_.store, own_.chunk.rank, own_.chunk.lane, own_.chunk.kind, window)
        .visit([&](const store::ChunkEntry& chunk, const store::EventColumns& columns,
                   std::size_t i, base::Interval time) {
          if (chunk.row_id == own_.chunk.row_id && i == own_.index) {
            passed_own = true;
            return;
          }
          const bool same = chunk.kind != model::EventKind::kOperator || columns.depth(i) == level;
          if (!same || (passed_own && after)) return;
          (passed_own ? after : before) =
              finder_.place_of(chunk, static_cast<std::uint32_t>(i), time);
        });
    if (!passed_own) return std::nullopt;
    return behind ? after : before;
  }

  const RunSnapshot& run_;
  EventFinder finder_;
  FoundEvent own_;
  base::Interval time_;
};

}  // namespace

int row_of_event(const RunSnapshot& run, const timeline::EventRef& event) {
  const auto lane = lane_of(run, event);
  return lane ? timeline::row_of(*run.rows, event.table, event.rank, *lane) : -1;
}

std::optional<timeline::EventPlace> row_neighbour(const RunSnapshot& run,
                                                  const timeline::EventRef& event, int direction) {
  const RankSnapshot* const rank = run.rank(event.rank);
  if (rank == nullptr || !event.exists()) return std::nullopt;
  if (event.table == timeline::EventTableKind::kSpan) {
    return neighbour_row(run, event.table, event.rank, rank->rows->spans, event.row, direction,
                         [](const model::Span& a, const model::Span& b) {
                           return a.lane == b.lane && a.depth == b.depth;
                         });
  }
  if (event.table == timeline::EventTableKind::kCollective) {
    return neighbour_row(
        run, event.table, event.rank, rank->rows->collectives, event.row, direction,
        [](const model::Collective& a, const model::Collective& b) { return a.lane == b.lane; });
  }
  auto own = EventFinder(run).at(event);
  if (!own) return std::nullopt;
  return BulkNeighbour(run, std::move(*own)).find(direction > 0);
}

}  // namespace shardlens::trace::explore
