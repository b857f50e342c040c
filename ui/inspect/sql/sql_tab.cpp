#include "ui/inspect/sql/sql_tab.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ui/kit/paint.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"
#include "ui/table/table_tools.h"

namespace shardlens::ui {

namespace {

constexpr float kSidebarWidth = 250, kLeastForSidebar = 900, kLowest = 300;

bool is_blank(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c == ' ' || c == '\n' || c == '\t'; });
}

// A single moment is shown with what is around it.
trace::TimeRange with_width(trace::TimeRange range) {
  constexpr std::int64_t kAround = 500'000;
  if (range.end_ns > range.start_ns) return range;
  range.start_ns -= kAround;
  range.end_ns += kAround;
  return range;
}

}  // namespace

void SqlTab::run(Commands& commands) const {
  if (!is_blank(editor_.text())) commands.push_back(RunSql{editor_.text()});
}

void SqlTab::draw_question(const Theme& theme, Rect area, const InspectView& view,
                           Commands& commands) {
  const Palette& p = theme.colors();
  const SqlConsole& console = view.sql;
  Rect tools = area.take_bottom(theme.px(kToolsHeight));
  const Rect run_box = tools.take_left(button_width(theme, "Run") + theme.px(8), theme.px(8));
  if (console.running) {
    if (button(theme, "sql/stop", run_box.inset(0, theme.px(4)), ButtonKind::kDanger, "Stop"))
      commands.push_back(StopSql{});
    text_in(theme, tools, Face::kSmall, p.text_muted, "running…");
  } else {
    const bool ready = !is_blank(editor_.text());
    if (button(theme, "sql/run", run_box.inset(0, theme.px(4)), ButtonKind::kPrimary, "Run", ready))
      run(commands);
    label_in(theme, tools, Face::kSmall, p.text_muted, "Ctrl+Enter");
  }
  const bool same = run_.answer && run_.answer->query == editor_.text();
  const std::string placeholder = sql_placeholder(view.rows.get());
  if (editor_.draw(theme, area, placeholder, same ? run_.wrong : std::nullopt) && !console.running)
    run(commands);
}

void SqlTab::draw_error(const Theme& theme, const Rect& area) const {
  const Palette& p = theme.colors();
  Rect rest = area;
  const std::string title = run_.wrong ? "Line " + std::to_string(run_.wrong->line) + ", column " +
                                             std::to_string(run_.wrong->column)
                                       : "The query cannot be answered";
  text_in(theme, rest.take_top(theme.px(24)), Face::kStrong, p.danger, title);
  const float height = wrapped_height(theme, Face::kBody, rest.w, run_.answer->error);
  text_wrapped(theme, rest.take_top(std::min(height, rest.h), theme.px(8)), Face::kBody, p.text,
               run_.answer->error);
}

std::optional<trace::TimeRange> SqlTab::draw_menu(const Theme& theme, Commands& commands) {
  const bool has_row = run_.menu_row.has_value() && run_.answer;
  const auto place = has_row ? time_of_row(*run_.answer, *run_.menu_row) : std::nullopt;
  std::vector<std::string_view> entries{"Copy the cell", "Copy the row"};
  if (place) entries.emplace_back("Show in the timeline");
  std::string title;
  if (has_row && run_.table && !run_.table->columns.empty()) {
    title = "Row " + format_integer(static_cast<std::int64_t>(*run_.menu_row) + 1) + ": " +
            run_.table->columns.front().csv(*run_.menu_row);
  }
  const auto chosen = row_menu(theme, "menu of an answer", "sql", title, entries);
  if (!chosen || !has_row || !run_.table) return std::nullopt;
  if (*chosen == 2) return with_width(*place);
  const bool cell = *chosen == 0 && run_.menu_column < run_.table->columns.size();
  commands.push_back(CopyText{cell ? run_.table->columns[run_.menu_column].csv(*run_.menu_row)
                                   : row_text(*run_.table, *run_.menu_row)});
  return std::nullopt;
}

std::optional<trace::TimeRange> SqlTab::draw_answer(const Theme& theme, Rect area,
                                                    const InspectView& view, Commands& commands) {
  const Palette& p = theme.colors();
  if (!run_.answer) {
    text_in(theme, area, Face::kBody, p.text_muted,
            view.sql.running ? "Reading…" : "Write a query, or begin with one of the examples",
            Align::kCenter);
    return std::nullopt;
  }
  if (!run_.answer->error.empty()) {
    draw_error(theme, area.inset(theme.px(4), theme.px(6)));
    return std::nullopt;
  }
  Rect tools = area.take_top(theme.px(kToolsHeight));
  table_buttons(
      theme, "sql", tools, export_file_name(view.run_folder, "query", "csv"),
      [this] { return view_.csv(); }, commands);
  text_in(theme, tools, Face::kSmall, p.text_muted,
          (view.sql.running ? "of the query before: " : "") + answer_text(*run_.answer));
  if (!run_.answer->left_out.empty()) {
    explain(theme, tools, "A rank is missing", run_.answer->left_out);
  } else if (run_.answer->truncated) {
    explain(
        theme, tools, "There are more rows",
        "The console shows the first ones; `shardlens query … --format csv` writes all of them");
  }
  TableOptions options;
  options.scrolls_sideways = true;
  options.empty = "No row";
  const TableEvents events = view_.draw(theme, area, run_.table, options);
  if (events.right_clicked) {
    run_.menu_row = *events.right_clicked;
    run_.menu_column = events.column;
    ImGui::OpenPopup("menu of an answer");
  }
  return draw_menu(theme, commands);
}

std::optional<trace::TimeRange> SqlTab::draw(const Theme& theme, const Rect& rect,
                                             const InspectView& view, Commands& commands) {
  const SqlConsole& console = view.sql;
  if (console.answer != run_.answer) {
    run_.menu_row.reset();
    run_.answer = console.answer;
    run_.table = run_.answer ? sql_result_table(run_.answer) : nullptr;
    run_.wrong =
        run_.answer ? sql_error_place(run_.answer->query, run_.answer->error) : std::nullopt;
    if (run_.answer && editor_.text().empty()) editor_.set(run_.answer->query, false);
  }
  Rect area = rect;
  if (area.w >= theme.px(kLeastForSidebar)) {
    const Rect side = area.take_left(theme.px(kSidebarWidth), theme.px(12));
    const SqlSidebar::Pick pick = sidebar_.draw(theme, side, view);
    if (!pick.insert.empty()) editor_.insert(pick.insert);
    if (!pick.replace.empty()) editor_.set(pick.replace);
  }
  // A low window has the answer beside the question, a high one below it.
  const bool beside = area.h < theme.px(kLowest) || area.w > 2 * area.h;
  const Rect question = beside ? area.take_left(std::floor(area.w * 0.4f), theme.px(16))
                               : area.take_top(std::floor(area.h * 0.4f), theme.px(8));
  Rect editor = question;
  editor.take_top(theme.px(4));
  draw_question(theme, editor, view, commands);
  return draw_answer(theme, area, view, commands);
}

}  // namespace shardlens::ui
