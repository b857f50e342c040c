#include "ui/table/table_view.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/kit/focus_ring.h"
#include "ui/kit/paint.h"
#include "ui/kit/panel.h"
#include "ui/table/table_cells.h"

namespace shardlens::ui::table {

namespace {

constexpr float kTableRow = 26, kTableHead = 28, kPinnedRow = 22;

bool is_right_aligned(present::TableColumn::Kind kind) {
  return kind == present::TableColumn::Kind::kFigure;
}

bool is_cut(const kit::Theme& theme, const state::Rect& cell, present::TableColumn::Kind kind,
            const present::TableCell& content) {
  if (kind != present::TableColumn::Kind::kText && kind != present::TableColumn::Kind::kCode)
    return false;
  const kit::Face face =
      kind == present::TableColumn::Kind::kCode ? kit::Face::kMono : kit::Face::kBody;
  return kit::text_width(theme, face, content.text) + (content.mark ? theme.px(18) : 0) >
         cell.w + 1;
}

// As far as a window has room for it.
std::string whole_text(const present::TableColumn& column, std::size_t row,
                       const present::TableCell& content) {
  constexpr float kMostLetters = 1'000;
  return present::elide_middle(
      column.csv ? column.csv(row) : content.text, kMostLetters,
      [](std::string_view part) { return static_cast<float>(part.size()); });
}

std::string head_name(const present::Table& table, const present::TableColumn& column) {
  return table.id + "/head/" + column.title;
}

}  // namespace

kit::Hit draw_column_head(const kit::Theme& theme, const state::Rect& box,
                          const present::Table& table, const present::TableColumn& column,
                          const present::TableSort& sort) {
  const state::Palette& p = theme.colors();
  const std::string text = column.head();
  const kit::Hit hit = kit::hit_area(theme, head_name(table, column), box);
  const bool active = sort.column == column.title;
  const state::Rgb ink = active || hit.hovered ? p.text : p.text_muted;
  const float width = kit::text_width(theme, kit::Face::kSmall, text);
  const float arrow = theme.px(12);
  state::Rect title = box;
  title.w = std::max(0.0f, title.w - theme.px(table.gap));
  const bool right = is_right_aligned(column.kind);
  // Left of a title at the right, else in the gap behind it.
  if (active && (right ? title.w : box.w) > width + arrow) {
    const float end = right ? title.right() - width - arrow : title.x + width + arrow;
    kit::shape(sort.descending ? kit::Shape::kDown : kit::Shape::kUp,
               right ? end + theme.px(4) : end - theme.px(4), title.center_y(), theme.px(7),
               kit::color(ink));
  }
  kit::text_in(theme, title, kit::Face::kSmall, ink, text,
               right ? kit::Align::kRight : kit::Align::kLeft);
  if (hit.hovered) kit::tooltip(theme, text, column.definition, column.source);
  return hit;
}

void TableView::update(const std::shared_ptr<const present::Table>& table,
                       std::string_view filter) {
  if (table == table_ && filter == filter_ && sort_ == sorted_by_) return;
  table_ = table;
  filter_ = std::string(filter);
  sorted_by_ = sort_;
  order_ = present::table_order(*table_, sort_, filter_);
}

void TableView::place(const kit::Theme& theme, const state::Rect& rect, bool keep_all) {
  placed_ =
      present::place_columns(*table_, std::floor((rect.w - theme.px(10)) / theme.scale), keep_all);
}

float TableView::frozen_end(const kit::Theme& theme, const state::Rect& row) const {
  float end = row.x;
  for (const present::PlacedColumn& c : placed_) {
    if (c.column < table_->frozen) end = row.x + theme.px(c.x + c.width);
  }
  return end;
}

template <typename Draw, typename Pass>
void TableView::for_each_cell(const kit::Theme& theme, const state::Rect& row, const Draw& draw,
                              const Pass& pass) const {
  const float begin = frozen_end(theme, row);
  const auto is_frozen = [&](const present::PlacedColumn& c) { return c.column < table_->frozen; };
  {
    const kit::Clip clip({begin, row.y, std::max(0.0f, row.right() - begin), row.h});
    for (const present::PlacedColumn& c : placed_) {
      if (is_frozen(c)) continue;
      const float left = row.x + theme.px(c.x) - scroll_x_;
      const float right = row.x + theme.px(c.x + c.width) - scroll_x_;
      const state::Rect cell{left, row.y, right - left, row.h};
      if (right <= begin || left >= row.right()) {
        pass(c.column, cell);
      } else {
        draw(c.column, cell);
      }
    }
  }
  for (const present::PlacedColumn& c : placed_) {
    if (is_frozen(c)) {
      const float left = row.x + theme.px(c.x);
      draw(c.column, state::Rect{left, row.y, row.x + theme.px(c.x + c.width) - left, row.h});
    }
  }
}

void TableView::draw_head(const kit::Theme& theme, const state::Rect& head) {
  const kit::Clip clip(head);
  present::TableSort wanted = sort_;
  const auto draw = [&](std::size_t column, const state::Rect& box) {
    const present::TableColumn& c = table_->columns[column];
    const kit::Hit hit = draw_column_head(theme, box, *table_, c, sort_);
    if (hit.clicked) wanted = present::next_sort(sort_, c);
    if (wanted.column.empty()) wanted = first_sort_;
    if (hit.entered && column >= table_->frozen) scroll_to(theme, head, box);
  };
  // The keyboard reaches them, too.
  const auto pass = [&](std::size_t column, const state::Rect& box) {
    if (theme.focus == nullptr) return;
    const std::string name = head_name(*table_, table_->columns[column]);
    if (theme.focus->visit(name, box).entered) scroll_to(theme, head, box);
  };
  for_each_cell(theme, head, draw, pass);
  sort_ = wanted;
}

void TableView::scroll_to(const kit::Theme& theme, const state::Rect& row,
                          const state::Rect& column) {
  const float beyond = std::max(0.0f, column.right() - row.right());
  const float before = std::max(0.0f, frozen_end(theme, row) - (column.x - beyond));
  wanted_scroll_x_ = scroll_x_ + beyond - before;
}

void TableView::draw_pinned(const kit::Theme& theme, const state::Rect& area) const {
  state::Rect rest = area;
  for (const auto& cells : table_->pinned) {
    const state::Rect row = rest.take_top(theme.px(kPinnedRow));
    for_each_cell(theme, row, [&](std::size_t column, state::Rect box) {
      if (column >= cells.size()) return;
      const present::TableColumn::Kind kind = table_->columns[column].kind;
      explain_pinned(theme, box, column, cells);
      if (kind != present::TableColumn::Kind::kHeat) box.w -= theme.px(table_->gap);
      draw_table_cell(theme, box, kind, cells[column]);
    });
  }
}

void TableView::explain_pinned(const kit::Theme& theme, const state::Rect& box, std::size_t column,
                               const std::vector<present::TableCell>& cells) const {
  const present::TableCell& cell = cells[column];
  if (column == 0 || !cell.bar) return;
  const std::string figure = cell.unit.empty() ? cell.text : cell.text + " " + cell.unit;
  kit::explain(theme, box, cells.front().text + ", " + table_->columns[column].title,
               figure.empty() ? "none" : figure);
}

void TableView::draw_rows(const kit::Theme& theme, const state::Rect& rows,
                          const TableOptions& options, TableEvents& events) const {
  const state::Palette& p = theme.colors();
  const float height = theme.px(kTableRow);
  const float top = rows.y - ImGui::GetScrollY();
  const auto [first, last] = kit::rows_to_draw(rows, top, height, order_.size());
  for (std::size_t i = first; i < last; ++i) {
    const std::size_t row = order_[i];
    const state::Rect box{rows.x, top + static_cast<float>(i) * height, rows.w, height};
    const kit::Hit hit = kit::hit_area(theme, table_->id + "/row/" + std::to_string(row), box);
    if (hit.hovered || options.selected == row) {
      kit::fill({box.x - theme.px(6), box.y, box.w + theme.px(6), box.h},
                kit::color(options.selected == row ? p.row_selected : p.hover), theme.px(4));
    }
    if (hit.clicked) events.clicked = row;
    if (hit.right_clicked) events.right_clicked = row;
    if (hit.hovered) events.hovered = row;
    const float mouse = ImGui::GetIO().MousePos.x;
    for_each_cell(theme, box, [&](std::size_t column, state::Rect cell) {
      const bool under_mouse = hit.hovered && mouse >= cell.x && mouse < cell.right();
      const present::TableColumn& c = table_->columns[column];
      if (c.kind != present::TableColumn::Kind::kHeat) cell.w -= theme.px(table_->gap);
      const present::TableCell content = c.cell(row);
      draw_table_cell(theme, cell, c.kind, content);
      if (!under_mouse) return;
      events.column = column;
      if (!content.is_short && !is_cut(theme, cell, c.kind, content)) return;
      kit::tooltip(theme, whole_text(c, row, content), "", options.cut_note);
    });
  }
}

TableEvents TableView::draw(const kit::Theme& theme, const state::Rect& rect,
                            const std::shared_ptr<const present::Table>& table,
                            const TableOptions& options) {
  TableEvents events;
  update(table, options.filter);
  place(theme, rect, options.scrolls_sideways);
  if (placed_.empty()) return events;
  state::Rect area = rect;
  const state::Rect head = area.take_top(theme.px(kTableHead));
  const float pinned = theme.px(kPinnedRow) * static_cast<float>(table_->pinned.size());
  // In a low window rows matter more than what sums them up.
  const bool has_pinned = pinned > 0 && area.h > pinned + 3 * theme.px(kTableRow);
  const state::Rect above = area.take_top(has_pinned ? pinned + theme.px(6) : 0);
  const ImGuiWindowFlags sideways =
      options.scrolls_sideways ? ImGuiWindowFlags_HorizontalScrollbar : ImGuiWindowFlags_None;
  // Wider than the rows, so that the highlight of a row has a margin.
  const float margin = theme.px(8);
  const float row_height = theme.px(kTableRow);
  const float wide = theme.px(placed_.back().x + placed_.back().width);
  const float bar = options.scrolls_sideways && wide > area.w - theme.px(10) ? theme.px(10) : 0;
  // Whole rows only: half a row reads like a fault.
  if (area.h > row_height + bar) {
    area.h = std::floor((area.h - bar) / row_height) * row_height + bar;
  }
  const state::Rect child{area.x - margin, area.y, area.w + margin, area.h};
  ImGui::SetCursorScreenPos({child.x, child.y});
  ImGui::BeginChild((table_->id + "/rows").c_str(),
                    {std::max(1.0f, child.w), std::max(1.0f, child.h)}, false,
                    sideways | ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoBackground);
  if (const auto wanted = std::exchange(wanted_scroll_x_, std::nullopt)) ImGui::SetScrollX(*wanted);
  scroll_x_ = options.scrolls_sideways ? ImGui::GetScrollX() : 0;
  state::Rect rows = area;
  rows.h = std::max(0.0f, rows.h - bar);
  draw_rows(theme, {rows.x, rows.y, rows.w - theme.px(10), rows.h}, options, events);
  const float high = static_cast<float>(order_.size()) * theme.px(kTableRow);
  ImGui::SetCursorScreenPos({child.x + margin + (options.scrolls_sideways ? wide : 1) - scroll_x_,
                             area.y - ImGui::GetScrollY() + std::max(1.0f, high) - 1});
  ImGui::Dummy({1, 1});
  ImGui::EndChild();
  if (has_pinned) draw_pinned(theme, {above.x, above.y, above.w - theme.px(10), above.h});
  draw_head(theme, {head.x, head.y, head.w - theme.px(10), head.h});
  kit::line(rect.x, head.bottom() - 1, rect.right(), head.bottom() - 1,
            kit::color(theme.colors().panel_edge));
  if (order_.empty()) {
    kit::empty_note(
        theme, area.inset(theme.px(8), 0),
        table_->rows > 0 && !options.filter.empty() ? "No row matches the filter" : options.empty);
  }
  return events;
}

}  // namespace shardlens::ui::table
