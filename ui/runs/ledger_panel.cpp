#include "ui/runs/ledger_panel.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/kit/draw_probe.h"
#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"
#include "ui/present/job_text.h"
#include "ui/present/tables/ledger_cells.h"
#include "ui/present/tables/ledger_table.h"
#include "ui/table/table_cells.h"
#include "ui/table/table_tools.h"
#include "ui/table/table_view.h"

namespace shardlens::ui::runs {

namespace {

constexpr float kRowHeight = 28, kHeadHeight = 24, kMarkWidth = 16;

state::Rect cell_in(const kit::Theme& theme, const state::Rect& row,
                    const present::PlacedColumn& place) {
  return {row.x + theme.px(kMarkWidth + place.x), row.y, theme.px(place.width), row.h};
}

void draw_mark(const kit::Theme& theme, const state::Rect& box, const state::LedgerRow& row) {
  const state::Palette& p = theme.colors();
  const float y = box.center_y(), x = box.x + theme.px(6);
  if (row.status == trace::model::RunStatus::kRunning)
    kit::shape(kit::Shape::kDot, x, y, theme.px(8), kit::color(p.good));
  if (row.status == trace::model::RunStatus::kFailed ||
      row.status == trace::model::RunStatus::kIncomplete)
    kit::shape(kit::Shape::kCross, x, y, theme.px(8), kit::color(p.danger));
}

void explain_row(const kit::Theme& theme, const state::LedgerRow& row) {
  const kit::TooltipScope scope(theme);
  scope.title((row.ordinal.empty() ? "" : row.ordinal + " · ") + row.name);
  if (!row.reason.empty()) scope.note(row.reason);
  const std::string simulation = row.simulated ? present::simulation_text(row.settings) : "";
  if (!simulation.empty()) scope.note("Simulated: " + simulation);
  scope.row(nullptr, "Status", trace::model::to_string(row.status));
  if (present::is_date(row.start_ns))
    scope.row(nullptr, "Started", present::format_date(row.start_ns));
  if (!row.tags.empty()) scope.row(nullptr, "Tags", present::tags_cell(row).text);
  if (!row.note.empty()) scope.note(row.note);
  if (row.summary.steps_measured > 0) {
    const auto unit = present::duration_unit(row.summary.step_ns.mean);
    scope.row(nullptr, "Step, median",
              present::format_duration_in(row.summary.step_ns.median, unit).text());
    scope.row(nullptr, "Step, ± over steps",
              present::format_duration_in(row.summary.step_ns.standard_deviation, unit).text());
  }
  if (row.summary.tokens_per_s > 0) {
    scope.row(nullptr, "Tokens", present::format_rate(*row.summary.tokens_per_s, "/s").text());
  }
  if (row.summary.samples_per_s > 0) {
    scope.row(nullptr, "Samples", present::format_rate(*row.summary.samples_per_s, "/s").text());
  }
  if (row.summary.effective_batch) {
    scope.row(nullptr, "Effective batch", present::format_integer(*row.summary.effective_batch));
  }
  if (row.summary.bytes_sent_per_step) {
    scope.row(nullptr, "Sent per rank and step",
              present::format_bytes(*row.summary.bytes_sent_per_step).text());
  }
  if (row.scaling) {
    scope.note(present::scaling_title(*row.scaling) +
               " against the baseline: " + present::scaling_text(*row.scaling));
  }
  scope.note("Click shows it, double-click replays it, right-click for more");
}

}  // namespace

void LedgerPanel::draw_head(const kit::Theme& theme, const state::Rect& row) {
  for (const present::PlacedColumn& place : placed_) {
    const present::TableColumn& column = table_.columns[place.column];
    const kit::Hit hit =
        table::draw_column_head(theme, cell_in(theme, row, place), table_, column, sort_);
    if (hit.clicked) sort_ = present::next_sort(sort_, column);
  }
}

std::vector<state::LedgerRow> LedgerPanel::selected_rows() const {
  std::vector<state::LedgerRow> rows;
  for (const state::LedgerRow& row : shown_.rows) {
    if (selected_.contains(row.folder)) rows.push_back(row);
  }
  return rows;
}

// As in lists of files: Ctrl adds or takes one away, Shift takes all up to it.
void LedgerPanel::click(const state::LedgerRow& row, bool replays, state::Commands& commands) {
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
      const auto shown = std::ranges::find(shown_.rows, true, &state::LedgerRow::is_shown);
      if (shown != shown_.rows.end()) selected_.insert(shown->folder);
    }
    if (selected_.erase(row.folder) == 0) selected_.insert(row.folder);
    return;
  }
  selected_ = {row.folder};
  // The run on screen, too: another one may be on its way there. Its replay goes on.
  if (!row.is_shown || !replays) commands.push_back(state::ShowRun{row.folder});
}

// Of all selected runs where it is one of several.
void LedgerPanel::open_menu(const state::LedgerRow& row) {
  if (selected_.size() > 1 && selected_.contains(row.folder)) return menu_.open(selected_rows());
  selected_ = {row.folder};
  menu_.open({row});
}

void LedgerPanel::draw_row(const kit::Theme& theme, const state::Rect& rect, std::size_t place,
                           const state::Snapshot& snapshot, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const state::LedgerRow& row = shown_.rows[place];
  const kit::Hit hit = kit::hit_area(theme, "ledger/" + row.folder, rect);
  const bool selected = selected_.size() > 1 && selected_.contains(row.folder);
  const state::Rect back = rect.inset(-theme.px(4), theme.px(1));
  if (row.is_shown || hit.hovered || selected) {
    kit::fill(back, kit::color(row.is_shown || selected ? p.row_selected : p.hover), theme.px(5));
  }
  if (selected) kit::outline(back, kit::color(p.accent), theme.px(5));
  draw_mark(theme, rect, row);
  for (const present::PlacedColumn& each : placed_) {
    const present::TableColumn& column = table_.columns[each.column];
    state::Rect cell = cell_in(theme, rect, each);
    cell.w = std::max(0.0f, cell.w - theme.px(table_.gap));
    table::draw_table_cell(theme, cell, column.kind, column.cell(place));
  }
  if (hit.double_clicked) {
    commands.push_back(state::StartReplay{row.folder});
  } else if (hit.clicked) {
    click(row, snapshot.replay.active, commands);
  }
  if (hit.right_clicked) open_menu(row);
  const bool on_name =
      ImGui::GetIO().MousePos.x < rect.x + theme.px(kMarkWidth + placed_.front().width);
  if (hit.hovered && (on_name || !row.reason.empty())) explain_row(theme, row);
}

void LedgerPanel::update(const std::shared_ptr<const state::Ledger>& ledger, float width) {
  if (ledger == ledger_ && width == width_ && sort_ == sorted_by_ && filter_ == filtered_by_)
    return;
  ledger_ = ledger;
  width_ = width;
  sorted_by_ = sort_;
  filtered_by_ = filter_;
  shown_ = *ledger;
  shown_.rows = ordered_runs(*ledger, sort_, filter_);
  std::erase_if(selected_, [this](const std::string& folder) {
    return std::ranges::find(ledger_->rows, folder, &state::LedgerRow::folder) ==
           ledger_->rows.end();
  });
  table_ = present::ledger_table(shown_, job_);
  placed_ = present::place_columns(table_, width, false);
  note_ = ledger->spread_note;
  for (const std::string& problem : ledger->problems)
    note_ += (note_.empty() ? "" : "   ·   ") + problem;
}

void LedgerPanel::draw_tools(const kit::Theme& theme, state::Rect area,
                             const state::Snapshot& snapshot, state::Commands& commands) {
  constexpr float kFilter = 190, kButtons = 200;
  const bool is_empty =
      !snapshot.ledger || (snapshot.ledger->rows.empty() && snapshot.ledger->deleted == 0);
  if (is_empty) return;
  const auto selected = selected_.size() > 1 ? selected_rows() : std::vector<state::LedgerRow>{};
  // In a small window the buttons, which are for what was just done, have the field's room.
  const bool has_buttons = !selected.empty() || snapshot.ledger->deleted > 0;
  if (area.w >= theme.px(kFilter + (has_buttons ? kButtons : 0))) {
    const state::Rect field = area.take_right(theme.px(kFilter), theme.px(8));
    table::filter_field(theme, "ledger/filter", field.inset(0, (field.h - theme.px(24)) / 2),
                        filter_, "Filter: name, tag, setting=value");
  }
  const std::size_t deletable = selected.size() > 1 ? deletable_runs(selected) : 0;
  if (deletable > 0 &&
      table::tool_button(theme, "ledger/delete", area, "Delete " + std::to_string(deletable))) {
    delete_runs(selected, commands);
  }
  if (may_be_compared(selected) &&
      table::tool_button(theme, "ledger/compare", area,
                         "Compare " + std::to_string(selected.size()))) {
    compare_runs(selected, commands);
  }
  if (const auto deleted = snapshot.ledger->deleted; deleted > 0) {
    const state::Rect before = area;
    if (table::tool_button(theme, "ledger/undo", area, present::undo_text(deleted)))
      commands.push_back(state::UndoDelete{});
    kit::explain(theme, {area.right(), before.y, before.right() - area.right(), before.h},
                 "Deleted runs", "They are kept until the window closes, then they are gone");
  }
  std::string note = "Ctrl or Shift selects several · double-click replays · right-click for more";
  if (!filter_.empty()) {
    note = std::to_string(shown_.rows.size()) + " of " +
           std::to_string(snapshot.ledger->rows.size()) + " runs";
  }
  kit::label_in(theme, area, kit::Face::kSmall, theme.colors().text_muted, note,
                kit::Align::kRight);
}

// Once it is the one on screen, not whenever rows move.
void LedgerPanel::bring_shown_into_sight(float row_height, float height) {
  const auto shown = std::ranges::find_if(shown_.rows, &state::LedgerRow::is_shown);
  if (shown == shown_.rows.end() || std::exchange(in_sight_, shown->folder) == shown->folder)
    return;
  const float y = row_height * static_cast<float>(shown - shown_.rows.begin());
  const float above = ImGui::GetScrollY();
  if (y < above || y + row_height > above + height)
    ImGui::SetScrollY(std::max(0.0f, y - row_height));
}

void LedgerPanel::draw_rows(const kit::Theme& theme, const state::Rect& rest,
                            const state::Snapshot& snapshot, state::Commands& commands) {
  const float row_height = theme.px(kRowHeight);
  const kit::Panel rows(theme, "ledger rows",
                        {rest.x - theme.px(8), rest.y, rest.w + theme.px(12), rest.h},
                        {.scrolls = true, .plain = true});
  bring_shown_into_sight(row_height, rest.h);
  const float top = rows.body.y;  // above `rest` once it is scrolled
  const std::size_t count = shown_.rows.size();
  const auto [first, last] = kit::rows_to_draw(rest, top, row_height, count);
  for (std::size_t i = first; i < last; ++i) {
    const float y = top + static_cast<float>(i) * row_height;
    draw_row(theme, {rest.x, y, rest.w - theme.px(8), row_height}, i, snapshot, commands);
  }
  rows.content_height(static_cast<float>(count) * row_height);
}

void LedgerPanel::draw(const kit::Theme& theme, const state::Rect& rect,
                       const state::Snapshot& snapshot, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  state::Rect rest = rect;
  if (!snapshot.ledger || snapshot.ledger->rows.empty()) {
    kit::empty_note(
        theme, rest,
        present::only_views(snapshot)
            ? "No runs yet. A trace of PyTorch's profiler that is dropped on the window becomes one"
            : "No runs yet. Press Start: the run is recorded and stays here to replay and compare");
    return;
  }
  *job_ = snapshot.job;
  update(snapshot.ledger, (rect.w / theme.scale) - kMarkWidth - 12);
  if (!note_.empty() && rest.h > theme.px(kHeadHeight + 2 * kRowHeight + 20)) {
    const state::Rect foot = rest.take_bottom(theme.px(22));
    kit::text_in(theme, foot, kit::Face::kSmall, p.text_muted, note_);
    kit::explain(theme, foot, "Spread", note_);
  }
  if (shown_.rows.empty()) {
    kit::empty_note(theme, rest, "No run matches “" + filter_ + "”");
    return;
  }
  draw_head(theme, rest.take_top(theme.px(kHeadHeight)));
  const float row_height = theme.px(kRowHeight);
  // Whole rows only: half a row reads like a fault.
  if (rest.h > row_height) rest.h = std::floor(rest.h / row_height) * row_height;
  draw_rows(theme, rest, snapshot, commands);
  menu_.draw(theme, commands);
}

}  // namespace shardlens::ui::runs
