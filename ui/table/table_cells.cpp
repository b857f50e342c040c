#include "ui/table/table_cells.h"

#include <algorithm>
#include <cmath>

#include "ui/kit/paint.h"
#include "ui/present/format.h"
#include "ui/present/timeline_colors.h"
#include "ui/table/histogram.h"

namespace shardlens::ui {

namespace {

using trace::TimeClass;

Rgb ink_of(const Palette& p, const TableCell& cell) {
  return cell.mark ? piece_edge(p, *cell.mark) : p.compute;
}

void draw_words(const Theme& theme, Rect box, Face face, const TableCell& cell) {
  const Palette& p = theme.colors();
  if (cell.is_marked) {
    const Rect sign = box.take_left(theme.px(12), theme.px(6));
    shape(Shape::kWarning, sign.center_x(), sign.center_y(), theme.px(12),
          color(tone_color(p, cell.tone)));
  }
  if (cell.mark || cell.memory_mark) {
    const Rect place = box.take_left(theme.px(10), theme.px(8));
    const float side = theme.px(10);
    const Rgb ink = cell.mark ? piece_edge(p, *cell.mark)
                              : p.memory[static_cast<std::size_t>(*cell.memory_mark)];
    fill({place.x, place.center_y() - side / 2, side, side}, color(ink), theme.px(2));
  }
  const std::string shown =
      face == Face::kMono
          ? elide_middle(cell.text, box.w,
                         [&](std::string_view part) { return text_width(theme, face, part); })
          : cell.text;
  text_in(theme, box, face, tone_color(p, cell.tone), shown);
}

void draw_bar_cell(const Theme& theme, Rect box, const TableCell& cell) {
  const Palette& p = theme.colors();
  const float figures = theme.px(52);
  const float room = box.w - figures;
  if (room > theme.px(16) && cell.bar) {
    const float width = std::max(2.0f, room * static_cast<float>(std::clamp(*cell.bar, 0.0, 1.0)));
    const float height = theme.px(9);
    fill({box.x, box.center_y() - height / 2, width, height}, color(ink_of(p, cell), 0.75f),
         theme.px(2));
    box.take_left(width, theme.px(6));
  }
  TableCell figure = cell;
  figure.tone = Tone::kSecondary;
  const float value = text_in(theme, box, Face::kMonoSmall, p.text_secondary, cell.text);
  box.take_left(value, theme.px(4));
  label_in(theme, box, Face::kSmall, p.text_muted, cell.unit);
}

void draw_stack(const Theme& theme, const Rect& box, const TableCell& cell) {
  const float height = theme.px(10);
  const float y = std::round(box.center_y() - height / 2);
  double at = 0;
  for (const auto& [piece_class, share] : cell.parts) {
    const float left = std::round(box.x + box.w * static_cast<float>(std::clamp(at, 0.0, 1.0)));
    at += share;
    const float right = std::round(box.x + box.w * static_cast<float>(std::clamp(at, 0.0, 1.0)));
    const Palette& p = theme.colors();
    const bool idle = piece_class == TimeClass::kIdle;
    fill({left, y, right - left, height}, color(idle ? p.idle : piece_edge(p, piece_class)));
  }
}

void draw_heat(const Theme& theme, const Rect& box, const TableCell& cell) {
  const Palette& p = theme.colors();
  const Rect field = box.inset(1, 1);
  if (!cell.bar) return;
  const Rgb ink = cell.is_marked ? p.exposed : ink_of(p, cell);
  const double share = std::clamp(*cell.bar, 0.0, 1.0);
  const Rgb shade = cell.is_marked ? mix(p.panel, ink, 0.9) : mix(p.panel, ink, 0.05 + 0.4 * share);
  fill(field, color(shade), theme.px(2));
  const std::string full = cell.unit.empty() ? cell.text : cell.text + " " + cell.unit;
  const Rect inner = field.inset(theme.px(4), 0);
  // A figure without its unit would be read as another one.
  label_in(theme, inner, Face::kMonoSmall, text_on(shade), full, Align::kRight);
}

}  // namespace

void draw_figure(const Theme& theme, const Rect& box, const TableCell& cell) {
  const Palette& p = theme.colors();
  Rect rest = box;
  if (!cell.unit.empty()) {
    const float slot = std::max(theme.px(20), text_width(theme, Face::kSmall, cell.unit));
    const Rect unit = rest.take_right(slot, theme.px(4));
    label_in(theme, unit, Face::kSmall, p.text_muted, cell.unit);
  }
  const float width =
      text_in(theme, rest, Face::kMono, tone_color(p, cell.tone), cell.text, Align::kRight);
  if (cell.is_marked && width > 0) {
    const float x = rest.right() - width - theme.px(12);
    if (x > rest.x) shape(Shape::kWarning, x, rest.center_y(), theme.px(11), color(p.exposed));
  }
}

void draw_table_cell(const Theme& theme, const Rect& box, TableColumn::Kind kind,
                     const TableCell& cell) {
  const Palette& p = theme.colors();
  switch (kind) {
    case TableColumn::Kind::kText:
      return draw_words(theme, box, Face::kBody, cell);
    case TableColumn::Kind::kCode:
      return draw_words(theme, box, Face::kMono, cell);
    case TableColumn::Kind::kFigure:
      return draw_figure(theme, box, cell);
    case TableColumn::Kind::kBar:
      return draw_bar_cell(theme, box, cell);
    case TableColumn::Kind::kHistogram:
      if (cell.histogram != nullptr) {
        draw_small_histogram(theme, box.inset(0, theme.px(4)), *cell.histogram, ink_of(p, cell));
      }
      return;
    case TableColumn::Kind::kStack:
      return draw_stack(theme, box, cell);
    case TableColumn::Kind::kHeat:
      return draw_heat(theme, box, cell);
  }
}

}  // namespace shardlens::ui
