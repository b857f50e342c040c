#include "trace/explore/find/event_facts.h"

#include "trace/base/words/quantity.h"
#include "trace/explore/find/fact_sheet.h"
#include "trace/explore/find/row_finder.h"
#include "trace/model/activity.h"
#include "trace/timeline/words/row_catalogue.h"

namespace shardlens::trace::explore {

base::Result<timeline::EventDetails> event_details(const RunSnapshot& run,
                                                   const timeline::EventRef& event) {
  const RankSnapshot* const rank = run.rank(event.rank);
  if (rank == nullptr) {
    return base::fail(base::ErrorKind::kMissing, "rank " + std::to_string(event.rank) +
                                                     " is not in the trace: pick the event again");
  }
  switch (event.table) {
    case timeline::EventTableKind::kSpan:
      return detail::span_details(run, *rank, event);
    case timeline::EventTableKind::kCollective:
      return detail::collective_details(run, *rank, event);
    case timeline::EventTableKind::kNone:
      return base::fail(base::ErrorKind::kMissing,
                        "no event was picked: click one in the timeline");
    default:
      return detail::bulk_details(run, *rank, event);
  }
}

namespace detail {

base::Result<timeline::EventDetails> span_details(const RunSnapshot& run, const RankSnapshot& rank,
                                                  const timeline::EventRef& event) {
  const auto& spans = rank.rows->spans;
  TRY_ASSIGN(const std::uint32_t index, row_index(spans, event.row));
  const model::Span& span = spans.rows[index];
  const std::string& name = rank.rows->labels[spans.labels[index]];
  const auto place_of = [&](std::uint32_t at) {
    return place_of_row(run, timeline::EventTableKind::kSpan, rank.rank, spans, at);
  };
  FactSheet sheet(run, rank);
  sheet.details.place = place_of(index);
  sheet.details.title = sheet.details.name = name;
  sheet.details.subtitle = sheet.subtitle(span.step);
  sheet.details.piece_class = model::phase_class(span.phase);
  sheet.add_times(span.start_ns, span.end_ns - span.start_ns);
  if (name != base::to_string(span.phase))
    sheet.add("Phase", std::string(base::to_string(span.phase)));
  if (span.depth > 0) sheet.add("Depth", std::to_string(span.depth), "spans around it");
  if (const model::Step* const step = rank.rows->step_at(span.start_ns)) {
    const double share = static_cast<double>(span.end_ns - span.start_ns) /
                         static_cast<double>(step->end_ns - step->start_ns);
    sheet.add("Share of step", base::format_percent(share).text());
  }
  add_step_links(
      sheet, spans, index,
      [&](std::uint32_t at) {
        const model::Span& other = spans.rows[at];
        return other.lane == span.lane && other.depth == span.depth &&
               spans.labels[at] == spans.labels[index];
      },
      place_of);
  return std::move(sheet.details);
}

}  // namespace detail

}  // namespace shardlens::trace::explore
