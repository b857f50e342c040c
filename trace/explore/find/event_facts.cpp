#include "trace/explore/find/event_facts.h"

#include <ctime>
#include <utility>

#include "trace/base/number_text.h"
#include "trace/base/words/quantity.h"
#include "trace/explore/find/row_finder.h"
#include "trace/model/activity.h"
#include "trace/timeline/words/row_catalogue.h"

namespace shardlens::trace::explore {

namespace {

// "14:02:11.123 456 789" of the local day.
std::string clock_figure(std::int64_t realtime_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  std::int64_t seconds = realtime_ns / kSecond, rest = realtime_ns % kSecond;
  if (rest < 0) {
    rest += kSecond;
    --seconds;
  }
  const auto time = static_cast<std::time_t>(seconds);
  std::tm local{};
  localtime_r(&time, &local);
  return base::formatted("%02d:%02d:%02d.%03d %03d %03d", local.tm_hour, local.tm_min, local.tm_sec,
                         static_cast<int>(rest / 1'000'000), static_cast<int>(rest / 1'000 % 1'000),
                         static_cast<int>(rest % 1'000));
}

// "14,912,345 ns"
std::string grouped_ns(std::int64_t ns) { return base::format_integer(ns) + " ns"; }

}  // namespace

void FactSheet::add(std::string_view label, std::string value, std::string note) {
  details.fields.push_back({std::string(label), std::move(value), std::move(note)});
}

void FactSheet::add_duration(std::string_view label, std::int64_t ns, std::string note) {
  add(label, base::duration_text(ns), std::move(note));
}

void FactSheet::add_times(std::int64_t start_ns, std::int64_t duration_ns) {
  if (const model::Step* const step = rank_.rows->step_at(start_ns)) {
    add_duration("Start in step", start_ns - step->start_ns,
                 "since step " + std::to_string(step->index) + " began on this rank");
  }
  const std::int64_t origin_ns = run_.rows->start_ns;
  if (start_ns >= origin_ns) {
    add_duration("Start in run", start_ns - origin_ns,
                 grouped_ns(start_ns - origin_ns) + " after the first event of the run");
  }
  add("Clock time", clock_figure(start_ns), std::to_string(start_ns) + " ns since 1970");
  if (duration_ns >= 0) {
    add_duration("Duration", duration_ns, grouped_ns(duration_ns));
  } else {
    add("Duration", "ended " + base::duration_text(-duration_ns) + " before it began",
        "its times contradict each other; drawn from the earlier one");
  }
}

std::string FactSheet::subtitle(std::int64_t step) const {
  std::string text = "rank " + std::to_string(rank_.rank);
  if (step >= 0) text += " · step " + std::to_string(step);
  return text;
}

void FactSheet::add_link(std::string_view label, const timeline::EventPlace& place) {
  details.links.push_back({std::string(label), place});
}

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
