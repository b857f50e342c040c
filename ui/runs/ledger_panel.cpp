#include "ui/runs/ledger_panel.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/kit/draw_probe.h"
#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"
#include "ui/present/tables/ledger_cells.h"
#include "ui/present/tables/ledger_layout.h"
#include "ui/present/tables/ledger_text.h"
#include "ui/table/table_tools.h"

namespace shardlens::ui {

namespace {

constexpr float kRowHeight = 28, kHeadHeight = 24, kMarkWidth = 16;

void draw_cell(const Theme& theme, Rect box, const LedgerColumn& column, const TableCell& cell) {
  const Palette& p = theme.colors();
  const Rgb ink = tone_color(p, cell.tone);
  const Face face = column.figure ? Face::kMono : Face::kMedium;
  box.w = std::max(0.0f, box.w - theme.px(12));
  if (cell.trend != Trend::kNone) {
    const Rect mark = box.take_left(theme.px(9), theme.px(6));
    shape(cell.trend == Trend::kSlower ? Shape::kUp : Shape::kDown, mark.center_x(),
          mark.center_y(), theme.px(8), color(ink));
  }
  if (cell.bar) {
    const float figures = theme.px(72);
    if (box.w - figures > theme.px(20)) {
      Rect bar = box;
      bar.take_left(figures);
      const float height = theme.px(6);
      fill({bar.x, bar.center_y() - height / 2,
            std::max(2.0f, bar.w * static_cast<float>(*cell.bar)), height},
           color(p.compute), theme.px(2));
      box.w = figures;
    }
  }
  float mark = cell.unit.empty() ? 0 : text_width(theme, Face::kSmall, cell.unit);
  // A name that is cut tells nothing apart; what its mark says stands in the row's explanation,
  // too.
  const float beside_mark = box.w - mark - theme.px(6);
  if (!column.figure && text_width(theme, face, cell.text) > beside_mark) mark = 0;
  Rect first = box;
  if (mark > 0) first.take_right(mark, theme.px(6));
  const float used = text_in(theme, first, face, ink, cell.text);
  if (mark == 0) return;
  box.take_left(used, theme.px(6));
  label_in(theme, box, Face::kSmall, p.text_muted, cell.unit);
}

void draw_mark(const Theme& theme, const Rect& box, const LedgerRow& row) {
  const Palette& p = theme.colors();
  const float y = box.center_y(), x = box.x + theme.px(6);
  if (row.status == trace::RunStatus::kRunning)
    shape(Shape::kDot, x, y, theme.px(8), color(p.good));
  if (row.status == trace::RunStatus::kFailed || row.status == trace::RunStatus::kIncomplete)
    shape(Shape::kCross, x, y, theme.px(8), color(p.danger));
}

void explain_row(const Theme& theme, const LedgerRow& row) {
  const TooltipScope scope(theme);
  scope.title((row.ordinal.empty() ? "" : row.ordinal + " · ") + row.name);
  if (!row.reason.empty()) scope.note(row.reason);
  const std::string simulation = row.simulated ? simulation_text(row.settings) : "";
  if (!simulation.empty()) scope.note("Simulated: " + simulation);
  scope.row(nullptr, "Status", trace::to_string(row.status));
  if (is_date(row.start_ns)) scope.row(nullptr, "Started", format_date(row.start_ns));
  if (!row.tags.empty()) scope.row(nullptr, "Tags", tags_cell(row).text);
  if (!row.note.empty()) scope.note(row.note);
  if (row.summary.steps_measured > 0) {
    const auto unit = duration_unit(row.summary.step_ns.mean);
    scope.row(nullptr, "Step, median", format_duration_in(row.summary.step_ns.median, unit).text());
    scope.row(nullptr, "Step, ± over steps",
              format_duration_in(row.summary.step_ns.standard_deviation, unit).text());
  }
  if (row.summary.tokens_per_s > 0) {
    scope.row(nullptr, "Tokens", format_rate(*row.summary.tokens_per_s, "/s").text());
  }
  if (row.summary.samples_per_s > 0) {
    scope.row(nullptr, "Samples", format_rate(*row.summary.samples_per_s, "/s").text());
  }
  if (row.summary.effective_batch) {
    scope.row(nullptr, "Effective batch", format_integer(*row.summary.effective_batch));
  }
  if (row.summary.bytes_sent_per_step) {
    scope.row(nullptr, "Sent per rank and step",
              format_bytes(*row.summary.bytes_sent_per_step).text());
  }
  if (row.scaling) {
    scope.note(scaling_title(*row.scaling) +
               " against the baseline: " + scaling_text(*row.scaling));
  }
  scope.note("Click shows it, double-click replays it, right-click for more");
}

}  // namespace

void LedgerPanel::draw_head(const Theme& theme, const Rect& row) {
  const Palette& p = theme.colors();
  Rect rest = row;
  rest.take_left(theme.px(kMarkWidth));
  for (const LedgerColumn& column : table_.columns) {
    Rect cell = rest.take_left(theme.px(column.width));
    const Hit hit = hit_area(theme, "ledger/head/" + column.title, cell);
    const bool active = sort_.column == column.title;
    cell.w -= theme.px(12);
    const Rgb ink = active || hit.hovered ? p.text : p.text_muted;
    const float used = text_in(theme, cell, Face::kSmall, ink, column.title);
    if (active) {
      shape(sort_.descending ? Shape::kDown : Shape::kUp, cell.x + used + theme.px(8),
            cell.center_y(), theme.px(7), color(ink));
    }
    if (hit.hovered) tooltip(theme, column.title, column.definition, column.key);
    if (hit.clicked) sort_ = next_run_sort(sort_, column);
  }
}

std::vector<LedgerRow> LedgerPanel::selected_rows() const {
  std::vector<LedgerRow> rows;
  for (const LedgerRow& row : shown_.rows) {
    if (selected_.contains(row.folder)) rows.push_back(row);
  }
  return rows;
}

// As in lists of files: Ctrl adds or takes one away, Shift takes all up to it.
void LedgerPanel::click(const LedgerRow& row, Commands& commands) {
  const ImGuiIO& io = ImGui::GetIO();
  if (io.KeyShift && !anchor_.empty()) {
    if (!io.KeyCtrl) selected_.clear();
    for (auto& folder : runs_between(shown_.rows, anchor_, row.folder)) {
      selected_.insert(std::move(folder));
    }
    return;
  }
  anchor_ = row.folder;
  if (io.KeyCtrl) {
    // What is on screen is the first of several.
    if (selected_.empty()) {
      const auto shown = std::ranges::find(shown_.rows, true, &LedgerRow::is_shown);
      if (shown != shown_.rows.end()) selected_.insert(shown->folder);
    }
    if (selected_.erase(row.folder) == 0) selected_.insert(row.folder);
    return;
  }
  selected_ = {row.folder};
  if (!row.is_shown) commands.push_back(ShowRun{row.folder});
}

// Of all selected runs where it is one of several.
void LedgerPanel::open_menu(const LedgerRow& row) {
  if (selected_.size() > 1 && selected_.contains(row.folder)) return menu_.open(selected_rows());
  selected_ = {row.folder};
  menu_.open({row});
}

void LedgerPanel::draw_row(const Theme& theme, const Rect& rect, const LedgerRow& row,
                           const JobState& job, Commands& commands) {
  const Palette& p = theme.colors();
  const Hit hit = hit_area(theme, "ledger/" + row.folder, rect);
  const bool selected = selected_.size() > 1 && selected_.contains(row.folder);
  const Rect back = rect.inset(-theme.px(4), theme.px(1));
  if (row.is_shown || hit.hovered || selected) {
    fill(back, color(row.is_shown || selected ? p.row_selected : p.hover), theme.px(5));
  }
  if (selected) outline(back, color(p.accent), theme.px(5));
  Rect rest = rect;
  draw_mark(theme, rest.take_left(theme.px(kMarkWidth)), row);
  for (const LedgerColumn& column : table_.columns) {
    draw_cell(theme, rest.take_left(theme.px(column.width)), column, column.cell(row, job));
  }
  if (hit.double_clicked) {
    commands.push_back(StartReplay{row.folder});
  } else if (hit.clicked) {
    click(row, commands);
  }
  if (hit.right_clicked) open_menu(row);
  const bool on_name =
      ImGui::GetIO().MousePos.x < rect.x + theme.px(kMarkWidth + table_.columns.front().width);
  if (hit.hovered && (on_name || !row.reason.empty())) explain_row(theme, row);
}

void LedgerPanel::update(const std::shared_ptr<const Ledger>& ledger, float width) {
  if (ledger == ledger_ && width == width_ && sort_ == sorted_by_ && filter_ == filtered_by_)
    return;
  ledger_ = ledger;
  width_ = width;
  sorted_by_ = sort_;
  filtered_by_ = filter_;
  shown_ = *ledger;
  shown_.rows = ordered_runs(*ledger, sort_, filter_);
  std::erase_if(selected_, [this](const std::string& folder) {
    return std::ranges::find(shown_.rows, folder, &LedgerRow::folder) == shown_.rows.end();
  });
  table_ = ledger_table(shown_);
  fit_columns(table_, width);
  note_ = ledger->spread_note;
  for (const std::string& problem : ledger->problems)
    note_ += (note_.empty() ? "" : "   ·   ") + problem;
}

void LedgerPanel::draw_tools(const Theme& theme, Rect area, const Snapshot& snapshot,
                             Commands& commands) {
  constexpr float kFilter = 190;
  const bool is_empty =
      !snapshot.ledger || (snapshot.ledger->rows.empty() && snapshot.ledger->deleted == 0);
  if (is_empty || area.w < theme.px(kFilter)) return;
  const Rect field = area.take_right(theme.px(kFilter), theme.px(8));
  filter_field(theme, "ledger/filter", field.inset(0, (field.h - theme.px(24)) / 2), filter_,
               "Filter: name, tag, setting=value");
  const auto selected = selected_.size() > 1 ? selected_rows() : std::vector<LedgerRow>{};
  const auto count = std::to_string(selected.size());
  if (selected.size() > 1 && std::ranges::any_of(selected, may_be_deleted) &&
      tool_button(theme, "ledger/delete", area, "Delete " + count)) {
    delete_runs(selected, commands);
  }
  if (selected.size() == 2 && tool_button(theme, "ledger/compare", area, "Compare")) {
    compare_two(selected, commands);
  }
  if (const auto deleted = snapshot.ledger->deleted; deleted > 0) {
    const Rect before = area;
    if (tool_button(theme, "ledger/undo", area, undo_text(deleted)))
      commands.push_back(UndoDelete{});
    explain(theme, {area.right(), before.y, before.right() - area.right(), before.h},
            "Deleted runs", "They are kept until the window closes, then they are gone");
  }
  std::string note = "Ctrl or Shift selects several · double-click replays · right-click for more";
  if (!filter_.empty()) {
    note = std::to_string(shown_.rows.size()) + " of " +
           std::to_string(snapshot.ledger->rows.size()) + " runs";
  }
  label_in(theme, area, Face::kSmall, theme.colors().text_muted, note, Align::kRight);
}

void LedgerPanel::draw_rows(const Theme& theme, const Rect& rest, const Snapshot& snapshot,
                            Commands& commands) {
  const float row_height = theme.px(kRowHeight);
  const auto count = static_cast<std::ptrdiff_t>(shown_.rows.size());
  const Panel rows(theme, "ledger rows",
                   {rest.x - theme.px(8), rest.y, rest.w + theme.px(12), rest.h},
                   {.title = {}, .note = {}, .scrolls = true, .plain = true});
  const float top = rows.body.y;  // above `rest` once it is scrolled
  const auto first = static_cast<std::ptrdiff_t>(std::floor((rest.y - top) / row_height));
  const auto last = static_cast<std::ptrdiff_t>(std::ceil((rest.bottom() - top) / row_height));
  for (auto i = std::clamp<std::ptrdiff_t>(first, 0, count); i < std::min(last, count); ++i) {
    const float y = top + static_cast<float>(i) * row_height;
    draw_row(theme, {rest.x, y, rest.w - theme.px(8), row_height},
             shown_.rows[static_cast<std::size_t>(i)], snapshot.job, commands);
  }
  rows.content_height(static_cast<float>(count) * row_height);
}

void LedgerPanel::draw(const Theme& theme, const Rect& rect, const Snapshot& snapshot,
                       Commands& commands) {
  const Palette& p = theme.colors();
  Rect rest = rect;
  if (!snapshot.ledger || snapshot.ledger->rows.empty()) {
    text_in(theme, rest, Face::kBody, p.text_muted,
            "No runs yet. Press Start: the run is recorded and stays here to replay and compare",
            Align::kCenter);
    return;
  }
  update(snapshot.ledger, (rect.w / theme.scale) - kMarkWidth - 12);
  if (!note_.empty() && rest.h > theme.px(kHeadHeight + 2 * kRowHeight + 20)) {
    const Rect foot = rest.take_bottom(theme.px(22));
    text_in(theme, foot, Face::kSmall, p.text_muted, note_);
    explain(theme, foot, "Spread", note_);
  }
  if (shown_.rows.empty()) {
    text_in(theme, rest, Face::kBody, p.text_muted, "No run matches “" + filter_ + "”",
            Align::kCenter);
    return;
  }
  draw_head(theme, rest.take_top(theme.px(kHeadHeight)));
  const float row_height = theme.px(kRowHeight);
  // Whole rows only: half a row reads like a fault.
  if (rest.h > row_height) rest.h = std::floor(rest.h / row_height) * row_height;
  draw_rows(theme, rest, snapshot, commands);
  menu_.draw(theme, commands);
}

}  // namespace shardlens::ui
