#include "trace/explore/find/event_facts.h"

#include <algorithm>

#include "trace/explore/find/fact_sheet.h"
#include "trace/explore/find/row_finder.h"
#include "trace/model/activity.h"
#include "trace/timeline/words/row_catalogue.h"

namespace shardlens::trace {

Result<EventDetails> event_details(const RunSnapshot& run, const EventRef& event) {
  const RankSnapshot* const rank = run.rank(event.rank);
  if (rank == nullptr) {
    return fail(ErrorKind::kMissing, "rank " + std::to_string(event.rank) +
                                         " is not in the trace: pick the event again");
  }
  switch (event.table) {
    case EventTableKind::kSpan:
      return detail::span_details(run, *rank, event);
    case EventTableKind::kCollective:
      return detail::collective_details(run, *rank, event);
    case EventTableKind::kNone:
      return fail(ErrorKind::kMissing, "no event was picked: click one in the timeline");
    default:
      return detail::bulk_details(run, *rank, event);
  }
}

namespace detail {

Result<EventDetails> span_details(const RunSnapshot& run, const RankSnapshot& rank,
                                  const EventRef& event) {
  const auto& spans = rank.rows->spans;
  TRY_ASSIGN(const std::uint32_t index, row_index(spans, event.row));
  const Span& span = spans.rows[index];
  const std::string& name = rank.rows->labels[spans.labels[index]];
  const auto place_of = [&](std::uint32_t at) {
    return place_of_row(run, EventTableKind::kSpan, rank.rank, spans, at);
  };
  FactSheet sheet(run, rank);
  sheet.details.place = place_of(index);
  sheet.details.title = sheet.details.name = name;
  sheet.details.subtitle = sheet.subtitle(span.step);
  sheet.details.piece_class = phase_class(span.phase);
  sheet.add_times(span.start_ns, span.end_ns - span.start_ns);
  if (name != to_string(span.phase)) sheet.add("Phase", std::string(to_string(span.phase)));
  if (span.depth > 0) sheet.add("Depth", std::to_string(span.depth), "spans around it");
  if (const Step* const step = rank.rows->step_at(span.start_ns)) {
    sheet.add("Share of step", share_figure(span.end_ns - span.start_ns, *step));
  }
  add_step_links(
      sheet, spans, index,
      [&](std::uint32_t at) {
        const Span& other = spans.rows[at];
        return other.lane == span.lane && other.depth == span.depth &&
               spans.labels[at] == spans.labels[index];
      },
      place_of);
  return std::move(sheet.details);
}

}  // namespace detail

}  // namespace shardlens::trace
