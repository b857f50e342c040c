#include "ui/ledger_panel.h"

#include <algorithm>
#include <cmath>

#include "ui/draw_probe.h"
#include "ui/format.h"
#include "ui/ledger_text.h"
#include "ui/panel.h"
#include "ui/widgets.h"

namespace shardlens::ui {

namespace {

constexpr float kRowHeight = 28, kHeadHeight = 24, kMarkWidth = 16;

void draw_head(const Look& look, const Rect& row, const LedgerTable& table) {
  const Palette& p = look.colors();
  Rect rest = row;
  rest.take_left(look.px(kMarkWidth));
  for (const LedgerColumn& column : table.columns) {
    Rect cell = rest.take_left(look.px(column.width));
    text_in(look, {cell.x, cell.y, cell.w - look.px(12), cell.h}, Face::kSmall, p.text_muted,
            column.title);
    explain(look, cell, column.title, column.definition, column.key);
  }
}

void draw_cell(const Look& look, Rect box, const LedgerColumn& column, const LedgerCell& cell) {
  const Palette& p = look.colors();
  const Rgb ink = tone_color(p, cell.tone);
  const Face face = column.figure ? Face::kMono : Face::kMedium;
  box.w = std::max(0.0f, box.w - look.px(12));
  if (cell.trend != Trend::kNone) {
    const Rect mark = box.take_left(look.px(9), look.px(6));
    shape(cell.trend == Trend::kSlower ? Shape::kUp : Shape::kDown, mark.center_x(),
          mark.center_y(), look.px(8), color(ink));
  }
  if (cell.bar) {
    const float figures = look.px(72);
    if (box.w - figures > look.px(20)) {
      Rect bar = box;
      bar.take_left(figures);
      const float height = look.px(6);
      fill({bar.x, bar.center_y() - height / 2,
            std::max(2.0f, bar.w * static_cast<float>(*cell.bar)), height},
           color(p.compute), look.px(2));
      box.w = figures;
    }
  }
  const float mark = cell.mark.empty() ? 0 : text_width(look, Face::kSmall, cell.mark);
  Rect first = box;
  if (mark > 0) first.take_right(mark, look.px(6));
  const float used = text_in(look, first, face, ink, cell.text);
  if (mark == 0) return;
  box.take_left(used, look.px(6));
  label_in(look, box, Face::kSmall, p.text_muted, cell.mark);
}

void draw_mark(const Look& look, const Rect& box, const LedgerRow& row) {
  const Palette& p = look.colors();
  const float y = box.center_y(), x = box.x + look.px(6);
  if (row.status == trace::RunStatus::kRunning) shape(Shape::kDot, x, y, look.px(8), color(p.good));
  if (row.status == trace::RunStatus::kFailed || row.status == trace::RunStatus::kIncomplete)
    shape(Shape::kCross, x, y, look.px(8), color(p.danger));
}

bool menu_entry(const Look& look, const std::string& name, std::string_view label) {
  const Palette& p = look.colors();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Rect row{at.x, at.y, look.px(208), look.px(28)};
  const Hit hit = hit_area(look, name, row);
  if (hit.hovered) fill(row, color(p.hover), look.px(4));
  text_in(look, row.inset(look.px(10), 0), Face::kBody, p.text, label);
  ImGui::Dummy({row.w, row.h});
  if (hit.clicked) ImGui::CloseCurrentPopup();
  return hit.clicked;
}

void draw_menu(const Look& look, const LedgerRow& row, Commands& commands) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(look.px(4), look.px(4)));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  if (ImGui::BeginPopup(("menu of " + row.folder).c_str(), ImGuiWindowFlags_NoMove)) {
    if (look.probe != nullptr) ++look.probe->layer;
    if (menu_entry(look, "menu/show", "Show")) commands.push_back(ShowRun{row.folder});
    if (menu_entry(look, "menu/replay", "Replay")) commands.push_back(StartReplay{row.folder});
    if (menu_entry(look, "menu/baseline", "Set as baseline"))
      commands.push_back(SetBaseline{row.folder});
    if (menu_entry(look, "menu/settings", "Copy its settings"))
      commands.push_back(CopySettings{row.folder});
    if (menu_entry(look, "menu/folder", "Copy the folder's path"))
      commands.push_back(CopyText{row.folder});
    if (look.probe != nullptr) --look.probe->layer;
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar(2);
}

void explain_row(const Look& look, const LedgerRow& row) {
  const TooltipScope scope(look);
  scope.title((row.ordinal.empty() ? "" : row.ordinal + " · ") + row.name);
  if (!row.reason.empty()) scope.note(row.reason);
  const std::string simulation = row.simulated ? simulation_text(row.settings) : "";
  if (!simulation.empty()) scope.note("Simulated: " + simulation);
  scope.row(nullptr, "Status", trace::to_string(row.status));
  if (row.start_ns > 0) scope.row(nullptr, "Started", format_date(row.start_ns));
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
  if (row.summary.effective_batch > 0) {
    scope.row(nullptr, "Effective batch", format_integer(row.summary.effective_batch));
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

void draw_row(const Look& look, const Rect& rect, const LedgerTable& table, const LedgerRow& row,
              const JobState& job, Commands& commands) {
  const Palette& p = look.colors();
  const Hit hit = hit_area(look, "ledger/" + row.folder, rect);
  if (row.is_shown || hit.hovered) {
    const Rect back = rect.inset(-look.px(4), look.px(1));
    fill(back, color(row.is_shown ? p.row_selected : p.hover), look.px(5));
  }
  Rect rest = rect;
  draw_mark(look, rest.take_left(look.px(kMarkWidth)), row);
  for (const LedgerColumn& column : table.columns) {
    draw_cell(look, rest.take_left(look.px(column.width)), column, column.cell(row, job));
  }
  if (hit.double_clicked) {
    commands.push_back(StartReplay{row.folder});
  } else if (hit.clicked && !row.is_shown) {
    commands.push_back(ShowRun{row.folder});
  }
  if (hit.right_clicked) ImGui::OpenPopup(("menu of " + row.folder).c_str());
  const bool on_name =
      ImGui::GetIO().MousePos.x < rect.x + look.px(kMarkWidth + table.columns.front().width);
  if (hit.hovered && (on_name || !row.reason.empty())) explain_row(look, row);
  draw_menu(look, row, commands);
}

}  // namespace

void LedgerPanel::update(const std::shared_ptr<const Ledger>& ledger, float width) {
  if (ledger == ledger_ && width == width_) return;
  ledger_ = ledger;
  width_ = width;
  table_ = ledger_table(*ledger);
  fit_columns(table_, width);
  note_ = ledger->spread_note;
  for (const std::string& problem : ledger->problems)
    note_ += (note_.empty() ? "" : "   ·   ") + problem;
}

void LedgerPanel::draw_rows(const Look& look, const Rect& rest, const Snapshot& snapshot,
                            Commands& commands) const {
  const float row_height = look.px(kRowHeight);
  const auto count = static_cast<std::ptrdiff_t>(ledger_->rows.size());
  const Panel rows(look, "ledger rows", {rest.x - look.px(8), rest.y, rest.w + look.px(12), rest.h},
                   {.title = {}, .note = {}, .scrolls = true, .plain = true});
  const float top = rows.body.y;  // above `rest` once it is scrolled
  const auto first = static_cast<std::ptrdiff_t>(std::floor((rest.y - top) / row_height));
  const auto last = static_cast<std::ptrdiff_t>(std::ceil((rest.bottom() - top) / row_height));
  for (auto i = std::clamp<std::ptrdiff_t>(first, 0, count); i < std::min(last, count); ++i) {
    const float y = top + static_cast<float>(i) * row_height;
    draw_row(look, {rest.x, y, rest.w - look.px(8), row_height}, table_,
             ledger_->rows[static_cast<std::size_t>(i)], snapshot.job, commands);
  }
  rows.content_height(static_cast<float>(count) * row_height);
}

void LedgerPanel::draw(const Look& look, const Rect& rect, const Snapshot& snapshot,
                       Commands& commands) {
  const Palette& p = look.colors();
  Rect rest = rect;
  if (!snapshot.ledger || snapshot.ledger->rows.empty()) {
    text_in(look, rest, Face::kBody, p.text_muted,
            "No runs yet. Press Start: the run is recorded and stays here to replay and compare",
            Align::kCenter);
    return;
  }
  update(snapshot.ledger, (rect.w / look.scale) - kMarkWidth - 12);
  if (!note_.empty() && rest.h > look.px(kHeadHeight + 2 * kRowHeight + 20)) {
    const Rect foot = rest.take_bottom(look.px(22));
    text_in(look, foot, Face::kSmall, p.text_muted, note_);
    explain(look, foot, "Spread", note_);
  }
  draw_head(look, rest.take_top(look.px(kHeadHeight)), table_);
  const float row_height = look.px(kRowHeight);
  // Whole rows only: half a row reads like a fault.
  if (rest.h > row_height) rest.h = std::floor(rest.h / row_height) * row_height;
  draw_rows(look, rest, snapshot, commands);
}

}  // namespace shardlens::ui
