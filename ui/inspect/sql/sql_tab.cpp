#include "ui/inspect/sql/sql_tab.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ui/inspect/sql/sql_examples.h"
#include "ui/kit/paint.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"
#include "ui/table/table_tools.h"

namespace shardlens::ui::inspect {

namespace {

constexpr float kSidebarWidth = 250, kLeastForSidebar = 900, kLowest = 300;

bool is_blank(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c == ' ' || c == '\n' || c == '\t'; });
}

// A single moment is shown with what is around it.
trace::timeline::TimeRange with_width(trace::timeline::TimeRange range) {
  constexpr std::int64_t kAround = 500'000;
  if (range.end_ns > range.start_ns) return range;
  range.start_ns -= kAround;
  range.end_ns += kAround;
  return range;
}

}  // namespace

void SqlTab::run(state::Commands& commands) const {
  if (!is_blank(editor_.text())) commands.push_back(state::RunSql{editor_.text()});
}

void SqlTab::draw_question(const kit::Theme& theme, state::Rect area,
                           const state::InspectView& view, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const state::SqlConsole& console = view.sql;
  state::Rect tools = area.take_bottom(theme.px(table::kToolsHeight));
  const state::Rect run_box =
      tools.take_left(kit::button_width(theme, "Run") + theme.px(8), theme.px(8));
  if (console.running) {
    if (kit::button(theme, "sql/stop", run_box.inset(0, theme.px(4)), kit::ButtonKind::kDanger,
                    "Stop"))
      commands.push_back(state::StopSql{});
    kit::note_in(theme, tools, "running…");
  } else {
    const bool ready = !is_blank(editor_.text());
    if (kit::button(theme, "sql/run", run_box.inset(0, theme.px(4)), kit::ButtonKind::kPrimary,
                    "Run", ready))
      run(commands);
    kit::label_in(theme, tools, kit::Face::kSmall, p.text_muted, "Ctrl+Enter");
  }
  const bool same = run_.answer && run_.answer->query == editor_.text();
  const std::string hint = sql_hint(view.rows.get());
  if (editor_.draw(theme, area, hint, same ? run_.wrong : std::nullopt) && !console.running)
    run(commands);
}

void SqlTab::draw_error(const kit::Theme& theme, const state::Rect& area) const {
  const state::Palette& p = theme.colors();
  state::Rect rest = area;
  const std::string title = run_.wrong ? "Line " + std::to_string(run_.wrong->line) + ", column " +
                                             std::to_string(run_.wrong->column)
                                       : "The query cannot be answered";
  kit::text_in(theme, rest.take_top(theme.px(24)), kit::Face::kStrong, p.danger, title);
  kit::text_wrapped(theme, rest, kit::Face::kBody, p.text, run_.answer->error);
}

std::vector<trace::timeline::TimeRange> SqlTab::draw_menu(const kit::Theme& theme,
                                                          state::Commands& commands) {
  const bool has_row = run_.menu_row.has_value() && run_.answer;
  const auto place = has_row ? time_of_row(*run_.answer, *run_.menu_row) : std::nullopt;
  std::vector<std::string_view> entries{"Copy the cell", "Copy the row"};
  if (place) entries.emplace_back("Show in the timeline");
  std::string title;
  if (has_row && run_.table && !run_.table->columns.empty()) {
    title = "Row " + present::format_integer(static_cast<std::int64_t>(*run_.menu_row) + 1) + ": " +
            run_.table->columns.front().csv(*run_.menu_row);
  }
  const auto chosen = table::row_menu(theme, "menu of an answer", "sql", title, entries);
  if (!chosen || !has_row || !run_.table) return {};
  if (*chosen == 2) return {with_width(*place)};
  const bool cell = *chosen == 0 && run_.menu_column < run_.table->columns.size();
  commands.push_back(state::CopyText{cell
                                         ? run_.table->columns[run_.menu_column].csv(*run_.menu_row)
                                         : present::row_text(*run_.table, *run_.menu_row)});
  return {};
}

std::vector<trace::timeline::TimeRange> SqlTab::draw_answer(const kit::Theme& theme,
                                                            state::Rect area,
                                                            const state::InspectView& view,
                                                            state::Commands& commands) {
  if (!run_.answer) {
    kit::empty_note(
        theme, area,
        view.sql.running ? "Reading…" : "Write a query, or begin with one of the examples");
    return {};
  }
  if (!run_.answer->error.empty()) {
    draw_error(theme, area.inset(theme.px(4), theme.px(6)));
    return {};
  }
  state::Rect tools = area.take_top(theme.px(table::kToolsHeight));
  table::table_buttons(
      theme, "sql", tools, table::export_file_name(view.run_folder, "query", "csv"),
      [this] { return view_.csv(); }, commands);
  kit::note_in(theme, tools,
               (view.sql.running ? "of the query before: " : "") + answer_text(*run_.answer));
  if (!run_.answer->left_out.empty()) {
    kit::explain(theme, tools, "A rank is missing", run_.answer->left_out);
  } else if (run_.answer->truncated) {
    kit::explain(
        theme, tools, "There are more rows",
        "The console shows the first ones; `shardlens query … --format csv` writes all of them");
  }
  const table::TableEvents events =
      view_.draw(theme, area, run_.table, {.empty = "No row", .scrolls_sideways = true});
  if (events.right_clicked) {
    run_.menu_row = *events.right_clicked;
    run_.menu_column = events.column;
    ImGui::OpenPopup("menu of an answer");
  }
  return draw_menu(theme, commands);
}

std::vector<trace::timeline::TimeRange> SqlTab::draw(const kit::Theme& theme,
                                                     const state::Rect& rect,
                                                     const state::InspectView& view,
                                                     state::Commands& commands) {
  const state::SqlConsole& console = view.sql;
  if (console.answer != run_.answer) {
    run_.menu_row.reset();
    run_.answer = console.answer;
    run_.table = run_.answer ? sql_result_table(run_.answer) : nullptr;
    run_.wrong.reset();
    if (run_.answer && run_.answer->wrong_at)
      run_.wrong = sql_error_place(run_.answer->query, *run_.answer->wrong_at);
    if (run_.answer && editor_.text().empty()) editor_.set(run_.answer->query, false);
  }
  state::Rect area = rect;
  if (area.w >= theme.px(kLeastForSidebar)) {
    const state::Rect side = area.take_left(theme.px(kSidebarWidth), theme.px(12));
    const SqlSidebar::Pick pick = sidebar_.draw(theme, side, view);
    if (!pick.insert.empty()) editor_.insert(pick.insert);
    if (!pick.replace.empty()) editor_.set(pick.replace);
  }
  // A low window has the answer beside the question, a high one below it.
  const bool beside = area.h < theme.px(kLowest) || area.w > 2 * area.h;
  const state::Rect question = beside ? area.take_left(std::floor(area.w * 0.4f), theme.px(16))
                                      : area.take_top(std::floor(area.h * 0.4f), theme.px(8));
  state::Rect editor = question;
  editor.take_top(theme.px(4));
  draw_question(theme, editor, view, commands);
  return draw_answer(theme, area, view, commands);
}

}  // namespace shardlens::ui::inspect
