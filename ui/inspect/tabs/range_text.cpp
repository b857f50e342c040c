#include "ui/inspect/tabs/range_text.h"

#include "trace/base/number_text.h"
#include "ui/inspect/tabs/statistics_table.h"
#include "ui/inspect/tabs/statistics_text.h"
#include "ui/present/timeline/timeline_time_text.h"

namespace shardlens::ui::inspect {

namespace {

std::string ranks_text(const state::InspectView& view, const trace::timeline::TimeRange& range) {
  const std::size_t all = view.rows ? view.rows->ranks.size() : 0;
  const std::size_t count = range.ranks.empty() ? all : range.ranks.size();
  if (count == 0) return "";
  if (!range.ranks.empty() && count == 1) return "rank " + std::to_string(range.ranks.front());
  const std::string text = std::to_string(count) + (count == 1 ? " rank" : " ranks");
  return count < all ? text + " of " + std::to_string(all) : text;
}

std::string computed_text(double seconds) {
  if (!(seconds > 0)) return "";
  if (seconds < 0.001) return " · computed in < 1 ms";
  const bool long_time = seconds >= 1;
  return " · computed in " + trace::base::formatted(long_time ? "%.1f s" : "%.0f ms",
                                                    long_time ? seconds : seconds * 1e3);
}

std::string events_text(const trace::timeline::RangeFigures& figures,
                        std::optional<trace::timeline::StatisticsTable> table) {
  if (!table) return "";
  const trace::timeline::RangeTable* counts =
      find_range_table(figures, *table, trace::timeline::GroupBy::kName);
  return counts == nullptr ? "" : " · " + counted(counts->count, *table);
}

}  // namespace

std::vector<std::string> range_notes(const state::InspectView& view,
                                     std::optional<trace::timeline::StatisticsTable> table) {
  if (view.range && view.range->fraction < 1) {
    // Never "100 %" of what goes on.
    const int percent = static_cast<int>(100 * view.range->fraction);
    return {"counting… " + std::to_string(percent) + " % of the run so far", "counting…"};
  }
  if (!view.range || view.counting_range) return {"counting…"};
  const trace::timeline::RangeFigures& figures = *view.range;
  const std::string time = present::length_text(figures.range.end_ns - figures.range.start_ns);
  const std::string ranks = ranks_text(view, figures.range);
  const std::string where = figures.is_so_far      ? "run so far: "
                            : figures.is_whole_run ? "whole run: "
                                                   : "in the selection: ";
  const std::string what = where + time + (ranks.empty() ? "" : " on " + ranks);
  const std::string events = events_text(figures, table);
  const std::string whole = what + events;
  std::vector<std::string> notes;
  if (!figures.incomplete.empty()) notes.push_back(whole + " · not complete");
  notes.push_back(whole + computed_text(figures.seconds));
  notes.push_back(whole);
  notes.push_back(what);
  notes.push_back(where + time);
  notes.push_back(time);
  return notes;
}

std::string range_definition(const state::InspectView& view) {
  std::string text =
      "An event belongs to the range if it begins in it. Drag over the timeline's axis to select a "
      "range, Esc to have the whole run again";
  if (view.range && view.range->fraction < 1) {
    return text + ". Medians, 99th percentiles and collectives come once all events were seen";
  }
  if (view.counting_range) text += ". What the tables show is still of the range before";
  if (view.range && !view.range->incomplete.empty()) {
    text += ". Not complete: " + view.range->incomplete;
  }
  return text;
}

}  // namespace shardlens::ui::inspect
