// The words of ui/inspect/tabs/statistics_table.h.
#include <algorithm>
#include <array>

#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "ui/inspect/tabs/statistics_table.h"
#include "ui/present/format.h"
#include "ui/present/timeline/timeline_time_text.h"
#include "ui/state/view_preferences.h"

namespace shardlens::ui::inspect {

using trace::timeline::StatisticsTable;

namespace {

struct TableWords {
  std::string_view one, many;
};

const TableWords& words_of(StatisticsTable table) {
  static constexpr std::array<TableWords, 5> kWords{{{"kernel", "kernels"},
                                                     {"operator", "operators"},
                                                     {"collective", "collectives"},
                                                     {"copy", "copies"},
                                                     {"launch", "launches"}}};
  return kWords[static_cast<std::size_t>(table)];
}

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

std::string_view table_title(StatisticsTable table) {
  return state::tab_title(static_cast<state::InspectTab>(table));
}

std::string counted(std::int64_t count, StatisticsTable table) {
  const TableWords& words = words_of(table);
  return present::format_integer(count) + " " + std::string(count == 1 ? words.one : words.many);
}

std::string_view group_title(trace::timeline::GroupBy group_by) {
  using trace::timeline::GroupBy;
  constexpr std::array<std::string_view, 4> kTitles{"by name", "by class", "by size", "by unit"};
  return trace::base::enum_name<GroupBy::kUnit>(kTitles, group_by);
}

std::string searched_name(StatisticsTable table, const std::string& name) {
  constexpr std::string_view kBetween = " · ";
  const std::size_t at = name.find(kBetween);
  const bool has_tag = table == StatisticsTable::kCollectives && at != std::string::npos;
  return has_tag ? name.substr(at + kBetween.size()) : name;
}

std::string collective_title(std::string_view name) {
  // "reduce_scatter · blocks.6 reduce": the tag stays as it was recorded.
  std::string title(name);
  const std::size_t end = std::min(title.find(' '), title.size());
  std::replace(title.begin(), title.begin() + static_cast<std::ptrdiff_t>(end), '_', '-');
  if (!title.empty() && title.front() >= 'a' && title.front() <= 'z') {
    title.front() = static_cast<char>(title.front() - 'a' + 'A');
  }
  return title;
}

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
