#include "ui/inspect/sql_tab.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ui/format.h"
#include "ui/inspect/table_tools.h"
#include "ui/paint.h"
#include "ui/widgets.h"

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

void SqlTab::draw_question(const Look& look, Rect area, const SqlConsole& console,
                           Commands& commands) {
  const Palette& p = look.colors();
  Rect tools = area.take_bottom(look.px(kToolsHeight));
  const Rect run_box = tools.take_left(button_width(look, "Run") + look.px(8), look.px(8));
  if (console.running) {
    if (button(look, "sql/stop", run_box.inset(0, look.px(4)), ButtonKind::kDanger, "Stop"))
      commands.push_back(StopSql{});
    text_in(look, tools, Face::kSmall, p.text_muted, "running…");
  } else {
    const bool ready = !is_blank(editor_.text());
    if (button(look, "sql/run", run_box.inset(0, look.px(4)), ButtonKind::kPrimary, "Run", ready))
      run(commands);
    label_in(look, tools, Face::kSmall, p.text_muted, "Ctrl+Enter");
  }
  const bool same = answer_ && answer_->query == editor_.text();
  if (editor_.draw(look, area, same ? wrong_ : std::nullopt) && !console.running) run(commands);
}

void SqlTab::draw_error(const Look& look, const Rect& area) const {
  const Palette& p = look.colors();
  Rect rest = area;
  const std::string title =
      wrong_ ? "Line " + std::to_string(wrong_->line) + ", column " + std::to_string(wrong_->column)
             : "The query cannot be answered";
  text_in(look, rest.take_top(look.px(24)), Face::kStrong, p.danger, title);
  const float height = wrapped_height(look, Face::kBody, rest.w, answer_->error);
  text_wrapped(look, rest.take_top(std::min(height, rest.h), look.px(8)), Face::kBody, p.text,
               answer_->error);
}

std::optional<trace::TimeRange> SqlTab::draw_menu(const Look& look, Commands& commands) {
  std::vector<std::string_view> entries{"Copy the cell", "Copy the row"};
  const auto place = answer_ ? time_of_row(*answer_, menu_row_) : std::nullopt;
  if (place) entries.emplace_back("Show in the timeline");
  const auto chosen = row_menu(look, "menu of an answer", "sql", entries);
  if (!chosen || !table_ || menu_row_ >= table_->rows) return std::nullopt;
  if (*chosen == 2) return with_width(*place);
  const bool cell = *chosen == 0 && menu_column_ < table_->columns.size();
  commands.push_back(
      CopyText{cell ? table_->columns[menu_column_].csv(menu_row_) : row_text(*table_, menu_row_)});
  return std::nullopt;
}

std::optional<trace::TimeRange> SqlTab::draw_answer(const Look& look, Rect area,
                                                    const InspectView& view, Commands& commands) {
  const Palette& p = look.colors();
  if (!answer_) {
    text_in(look, area, Face::kBody, p.text_muted,
            view.sql.running ? "Reading…" : "Write a query, or begin with one of the examples",
            Align::kCenter);
    return std::nullopt;
  }
  if (!answer_->error.empty()) {
    draw_error(look, area.inset(look.px(4), look.px(6)));
    return std::nullopt;
  }
  Rect tools = area.take_top(look.px(kToolsHeight));
  table_buttons(
      look, "sql", tools, export_file_name(view.run_folder, "query", "csv"),
      [this] { return view_.csv(); }, commands);
  text_in(look, tools, Face::kSmall, p.text_muted,
          (view.sql.running ? "of the query before: " : "") + answer_text(*answer_));
  if (!answer_->left_out.empty()) {
    explain(look, tools, "A rank is missing", answer_->left_out);
  } else if (answer_->truncated) {
    explain(
        look, tools, "There are more rows",
        "The console shows the first ones; `shardlens query … --format csv` writes all of them");
  }
  TableOptions options;
  options.scrolls_sideways = true;
  options.empty = "No row";
  const TableEvents events = view_.draw(look, area, table_, options);
  if (events.right_clicked) {
    menu_row_ = *events.right_clicked;
    menu_column_ = events.column;
    ImGui::OpenPopup("menu of an answer");
  }
  return draw_menu(look, commands);
}

std::optional<trace::TimeRange> SqlTab::draw(const Look& look, const Rect& rect,
                                             const InspectView& view, Commands& commands) {
  const SqlConsole& console = view.sql;
  if (console.answer != answer_) {
    answer_ = console.answer;
    table_ = answer_ ? sql_result_table(answer_) : nullptr;
    wrong_ = answer_ ? sql_error_place(answer_->query, answer_->error) : std::nullopt;
    if (answer_ && editor_.text().empty()) editor_.set(answer_->query, false);
  }
  Rect area = rect;
  if (area.w >= look.px(kLeastForSidebar)) {
    const Rect side = area.take_left(look.px(kSidebarWidth), look.px(12));
    const SqlSidebar::Pick pick = sidebar_.draw(look, side, console);
    if (!pick.insert.empty()) editor_.insert(pick.insert);
    if (!pick.replace.empty()) editor_.set(pick.replace);
  }
  // A low window has the answer beside the question, a high one below it.
  const bool beside = area.h < look.px(kLowest) || area.w > 2 * area.h;
  const Rect question = beside ? area.take_left(std::floor(area.w * 0.4f), look.px(16))
                               : area.take_top(std::floor(area.h * 0.4f), look.px(8));
  Rect editor = question;
  editor.take_top(look.px(4));
  draw_question(look, editor, console, commands);
  return draw_answer(look, area, view, commands);
}

}  // namespace shardlens::ui
