#include "trace/explore/find/row_finder.h"

#include <algorithm>
#include <optional>

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
  const auto chunks = run.store->chunks();
  for (const store::ChunkEntry& chunk :
       std::ranges::equal_range(*chunks, event.rank, {}, &store::ChunkEntry::rank)) {
    if (chunk.row_id == event.row && table_of(chunk.kind) == event.table) return chunk.lane;
  }
  return std::nullopt;
}

}  // namespace

int row_of_event(const RunSnapshot& run, const timeline::EventRef& event) {
  const auto lane = lane_of(run, event);
  return lane ? timeline::row_of(*run.rows, event.table, event.rank, *lane) : -1;
}

}  // namespace shardlens::trace::explore
