// Spans and collectives of a rank found again, by row id, and what matches them in other steps; the
// timeline's row of any event, and the event beside it there. Any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trace/explore/find/event_facts.h"
#include "trace/explore/run/rank_rows.h"
#include "trace/explore/run/run_snapshot.h"
#include "trace/timeline/values/drawn_event.h"
#include "trace/timeline/values/event_ref.h"
#include "trace/timeline/words/row_catalogue.h"

namespace shardlens::trace::explore {

// Where the row with an id stands. Error: kMissing.
template <typename Row>
base::Result<std::uint32_t> row_index(const TimedRows<Row>& rows, std::int64_t id) {
  const auto found = std::ranges::find(rows.ids, id);
  if (found != rows.ids.end()) return static_cast<std::uint32_t>(found - rows.ids.begin());
  return base::fail(base::ErrorKind::kMissing,
                    "the event was not read yet: pick it again once the trace has been read");
}

// Where it is now among its rank's collectives: rows that came later may stand before it. Nothing:
// it was not read yet.
std::optional<std::uint32_t> index_of(const RankRows& rows, const analysis::CollectivePart& part);

template <typename Row>
timeline::EventPlace place_of_row(const RunSnapshot& run, timeline::EventTableKind table, int rank,
                                  const TimedRows<Row>& rows, std::uint32_t index) {
  const Row& row = rows.rows[index];
  const base::Interval time = timeline::drawn_time(row.start_ns, row.end_ns);
  return {{table, rank, rows.ids[index], 0},
          time.start_ns,
          time.end_ns,
          row_of(*run.rows, table, rank, row.lane)};
}

// Links to what `is_same` in the steps before and after: where the row is the n-th of its step, the
// n-th, or the last if there are fewer.
template <typename Row, typename Same, typename Place>
void add_step_links(FactSheet& sheet, const TimedRows<Row>& rows, std::uint32_t index, Same is_same,
                    Place place_of) {
  const std::int64_t step = rows.rows[index].step;
  if (step < 0) return;
  std::vector<std::uint32_t> before, own, after;
  for (std::uint32_t at = 0; at < rows.size(); ++at) {
    const std::int64_t other = rows.rows[at].step;
    if (other < step - 1 || other > step + 1 || !is_same(at)) continue;
    (other < step ? before : other > step ? after : own).push_back(at);
  }
  const auto ordinal = static_cast<std::size_t>(std::ranges::find(own, index) - own.begin());
  const auto link = [&](const char* label, const std::vector<std::uint32_t>& of) {
    if (!of.empty()) sheet.add_link(label, place_of(of[std::min(ordinal, of.size() - 1)]));
  };
  link("Previous step", before);
  link("Next step", after);
}

// The timeline's row that shows an event; −1: none does.
int row_of_event(const RunSnapshot& run, const timeline::EventRef& event);

// The event behind (direction 1) or before (−1) another one on its row and level of nesting. None:
// it is the last or first one, or cannot be found. Decodes the chunks around it.
std::optional<timeline::EventPlace> row_neighbour(const RunSnapshot& run,
                                                  const timeline::EventRef& event, int direction);

}  // namespace shardlens::trace::explore
