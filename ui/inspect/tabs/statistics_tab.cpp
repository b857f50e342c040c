#include "ui/inspect/tabs/statistics_tab.h"

#include <imgui.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "ui/inspect/tabs/statistics_table.h"
#include "ui/kit/paint.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"
#include "ui/state/palette.h"
#include "ui/table/histogram.h"
#include "ui/table/table_tools.h"

namespace shardlens::ui::inspect {

namespace {

using trace::timeline::GroupBy;
using trace::timeline::NameFigures;

constexpr std::array kGroups{GroupBy::kName, GroupBy::kClass, GroupBy::kShape, GroupBy::kUnit};
constexpr float kDistributionWidth = 380, kLeastBesideIt = 620, kLowestDistribution = 150;

std::vector<GroupBy> groups_of(const trace::timeline::RangeFigures& figures,
                               trace::timeline::StatisticsTable table) {
  std::vector<GroupBy> groups;
  for (const GroupBy group : kGroups) {
    if (find_range_table(figures, table, group) != nullptr) groups.push_back(group);
  }
  return groups;
}

void go_to_longest(const NameFigures& row, state::Commands& commands) {
  if (!row.longest.exists()) return;
  trace::timeline::EventPlace place;
  place.ref = row.longest;
  place.start_ns = row.longest_start_ns;
  place.end_ns = row.longest_start_ns + std::max<std::int64_t>(0, row.most_ns);
  commands.push_back(state::GoToEvent{place});
}

void explain_distribution(const kit::Theme& theme, const NameFigures& row, state::Rgb ink) {
  const kit::TooltipScope scope(theme);
  scope.title(row.name);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const state::Rect area{at.x, at.y, theme.px(340), theme.px(132)};
  table::draw_large_histogram(theme, area, row, ink);
  ImGui::Dummy({area.w, area.h});
  scope.row("Events", present::format_integer(row.count));
  scope.row("Median", present::duration_text(row.median_ns));
  scope.row("p99", present::duration_text(row.p99_ns));
  scope.note("Logarithmic axis from the shortest to the longest. Click for a larger one");
}

}  // namespace

void StatisticsTab::update(const state::InspectView& view) {
  const auto groups = groups_of(*view.range, kind_);
  if (group_ >= groups.size()) group_ = 0;
  const trace::timeline::RangeTable* wanted =
      groups.empty() ? nullptr : find_range_table(*view.range, kind_, groups[group_]);
  if (view.range == run_.figures && wanted == run_.shown && run_.table) return;
  run_.figures = view.range;
  run_.shown = wanted;
  run_.table = wanted == nullptr ? nullptr : statistics_table(run_.figures, *wanted);
}

const NameFigures* StatisticsTab::row_of(const std::optional<std::string>& name) const {
  if (!name || run_.shown == nullptr) return nullptr;
  const auto found = std::ranges::find(run_.shown->rows, *name, &NameFigures::name);
  return found == run_.shown->rows.end() ? nullptr : &*found;
}

std::size_t StatisticsTab::index_of(const NameFigures& row) const {
  return static_cast<std::size_t>(&row - run_.shown->rows.data());
}

// The rows of other groupings are not names of events.
bool StatisticsTab::has_names() const { return run_.shown->group_by == GroupBy::kName; }

void StatisticsTab::find(const NameFigures& row, state::Commands& commands) const {
  commands.push_back(state::FindNames{
      {.text = searched_name(kind_, row.name), .is_plain = true, .ignores_case = false}});
}

void StatisticsTab::pick(const NameFigures& row, state::Commands& commands) {
  run_.picked = row.name;
  if (has_names()) find(row, commands);
  go_to_longest(row, commands);
}

void StatisticsTab::draw_tools(const kit::Theme& theme, state::Rect tools,
                               const state::InspectView& view, state::Commands& commands) {
  const std::string part = view.range->is_so_far      ? "_so_far"
                           : view.range->is_whole_run ? ""
                                                      : "_selection";
  table::table_buttons(
      theme, "statistics", tools,
      table::export_file_name(view.run_folder, std::string(table_title(kind_)) + part, "csv"),
      [this] { return view_.csv(); }, commands);
  const float field = std::min(theme.px(260), tools.w);
  if (field < theme.px(80)) return;
  state::Rect filter = tools.take_left(field, theme.px(12));
  table::filter_field(theme, "statistics/filter", filter.inset(0, (filter.h - theme.px(26)) / 2),
                      filter_, "Filter by name or class");
  const auto groups = groups_of(*view.range, kind_);
  if (groups.size() < 2) return;
  std::vector<std::string_view> titles;
  for (const GroupBy group : groups) titles.push_back(group_title(group));
  if (table::choice_strip(theme, "statistics/group", tools, titles, group_)) run_.picked.reset();
}

void StatisticsTab::draw_menu(const kit::Theme& theme, state::Commands& commands) {
  constexpr std::array<std::string_view, 5> kEntries{
      "Show the next in the timeline", "Show the previous in the timeline",
      "Show the longest in the timeline", "Copy the name", "Copy the row"};
  const std::size_t left_out = has_names() ? 0 : 2;
  const auto chosen =
      table::row_menu(theme, "menu of a name", "statistics", run_.menu_of.value_or(""),
                      std::span(kEntries).subspan(left_out));
  const NameFigures* of = row_of(run_.menu_of);
  if (!chosen || of == nullptr) return;
  const NameFigures& row = *of;
  switch (const std::size_t entry = *chosen + left_out) {
    case 0:
    case 1:
      find(row, commands);
      commands.push_back(state::GoToHit{entry == 0 ? 1 : -1, row.longest_start_ns});
      return;
    case 2:
      return pick(row, commands);
    case 3:
      commands.push_back(state::CopyText{row.name});
      return;
    default:
      commands.push_back(state::CopyText{present::row_text(*run_.table, index_of(row))});
  }
}

void StatisticsTab::draw_distribution(const kit::Theme& theme, const state::Rect& rect,
                                      const state::InspectView& view, state::Commands& commands) {
  const NameFigures& row = *row_of(run_.picked);
  const state::Palette& p = theme.colors();
  kit::fill({rect.x, rect.y, 1, rect.h}, kit::color(p.panel_edge));
  const state::Rect picture{rect.x + 1, rect.y, rect.w - 1, rect.h};
  state::Rect area = rect.inset(theme.px(14), theme.px(4));
  state::Rect title = area.take_top(theme.px(22));
  if (kit::icon_button(theme, "statistics/close", title.take_right(theme.px(20), theme.px(8)),
                       kit::Shape::kCross)) {
    run_.picked.reset();
  }
  kit::text_in(theme, title, kit::Face::kMono, p.text, row.name);
  kit::explain(theme, title, row.name, "");
  state::Rect tools = area.take_bottom(theme.px(28));
  if (table::tool_button(theme, "statistics/png", tools, "Save PNG")) {
    commands.push_back(state::SavePicture{
        table::export_file_name(view.run_folder, "distribution_" + row.name, "png"), picture});
  }
  const std::int64_t from = view.details ? view.details->place.start_ns : row.longest_start_ns;
  int direction = 0;
  if (has_names() && table::tool_button(theme, "statistics/next", tools, "Next")) direction = 1;
  if (has_names() && table::tool_button(theme, "statistics/previous", tools, "Previous")) {
    direction = -1;
  }
  if (direction != 0) {
    find(row, commands);
    commands.push_back(state::GoToHit{direction, from});
  }
  if (table::tool_button(theme, "statistics/longest", tools, "Longest"))
    go_to_longest(row, commands);
  const std::string time =
      row.most_ns < 0 ? "durations are not known" : present::duration_text(row.total_ns);
  const std::string facts = counted(row.count, kind_) + " · " + time;
  kit::note_in(theme, area.take_top(theme.px(20)), facts);
  table::draw_large_histogram(theme, area, row, state::piece_edge(p, row.piece_class));
}

void StatisticsTab::draw(const kit::Theme& theme, const state::Rect& rect,
                         const state::InspectView& view, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const bool is_to_come = view.range && view.range->fraction < 1 &&
                          find_range_table(*view.range, kind_, GroupBy::kName) == nullptr;
  if (!view.range || is_to_come) {
    kit::empty_note(theme, rect,
                    view.problem.empty() ? "Counting the events of the whole run…" : view.problem);
    return;
  }
  update(view);
  if (!run_.table) {
    kit::empty_note(theme, rect, "Nothing of this kind was recorded");
    return;
  }
  state::Rect area = rect;
  if (rect.h > theme.px(110)) {
    draw_tools(theme, area.take_top(theme.px(table::kToolsHeight)), view, commands);
    update(view);  // another group may have been chosen
  }
  const NameFigures* row = row_of(run_.picked);
  if (row != nullptr && area.w > theme.px(kDistributionWidth + kLeastBesideIt) &&
      area.h > theme.px(kLowestDistribution)) {
    draw_distribution(theme, area.take_right(theme.px(kDistributionWidth), theme.px(8)), view,
                      commands);
    row = row_of(run_.picked);
  }
  table::TableOptions options;
  options.filter = filter_;
  options.empty = view.range->is_so_far      ? "Nothing of this kind has begun so far"
                  : view.range->is_whole_run ? "Nothing of this kind was recorded"
                                             : "Nothing of this kind begins in the selection";
  options.cut_note = "Click shows its events in the timeline, right-click for more";
  if (row != nullptr) options.selected = index_of(*row);
  const table::TableEvents events = view_.draw(theme, area, run_.table, options);
  if (events.clicked) pick(run_.shown->rows[*events.clicked], commands);
  if (events.right_clicked) {
    run_.menu_of = run_.shown->rows[*events.right_clicked].name;
    ImGui::OpenPopup("menu of a name");
  }
  if (events.hovered && run_.shown->rows[*events.hovered].median_ns >= 0 &&
      run_.table->columns[events.column].kind == present::TableColumn::Kind::kHistogram) {
    const NameFigures& hovered = run_.shown->rows[*events.hovered];
    explain_distribution(theme, hovered, state::piece_edge(p, hovered.piece_class));
  }
  draw_menu(theme, commands);
}

}  // namespace shardlens::ui::inspect
