#include "ui/table/table_cells.h"

#include <algorithm>
#include <cmath>

#include "ui/kit/paint.h"
#include "ui/state/palette.h"
#include "ui/table/histogram.h"

namespace shardlens::ui::table {

namespace {

using trace::base::TimeClass;

state::Rgb ink_of(const state::Palette& p, const present::TableCell& cell) {
  return cell.mark ? state::piece_edge(p, *cell.mark) : p.compute;
}

// A name is cut in its middle: those of a sweep or of templates begin alike. Returns where the text
// ends.
float draw_words(const kit::Theme& theme, state::Rect box, kit::Face face, bool is_name,
                 const present::TableCell& cell) {
  const state::Palette& p = theme.colors();
  const state::Rgb ink = state::tone_color(p, cell.tone);
  if (cell.is_marked) {
    const state::Rect sign = box.take_left(theme.px(12), theme.px(6));
    kit::shape(kit::Shape::kWarning, sign.center_x(), sign.center_y(), theme.px(12),
               kit::color(ink));
  }
  if (cell.trend != present::Trend::kNone) {
    const state::Rect sign = box.take_left(theme.px(9), theme.px(6));
    kit::shape(cell.trend == present::Trend::kUp ? kit::Shape::kUp : kit::Shape::kDown,
               sign.center_x(), sign.center_y(), theme.px(8), kit::color(ink));
  }
  if (cell.mark || cell.memory_mark) {
    const state::Rect place = box.take_left(theme.px(10), theme.px(8));
    const float side = theme.px(10);
    const state::Rgb hue =
        cell.mark ? state::piece_edge(p, *cell.mark) : state::memory_color(p, *cell.memory_mark);
    kit::fill({place.x, place.center_y() - side / 2, side, side}, kit::color(hue), theme.px(2));
  }
  const std::string shown = is_name ? kit::fitting_name(theme, face, cell.text, box.w) : cell.text;
  return box.x + kit::text_in(theme, box, face, ink, shown);
}

// The unit behind the text, and the bar at the end where there is room for it.
void draw_value(const kit::Theme& theme, state::Rect box, kit::Face face, bool is_name,
                const present::TableCell& cell) {
  const state::Palette& p = theme.colors();
  const float figures = theme.px(72);
  if (cell.bar && box.w - figures > theme.px(20)) {
    const state::Rect bar = box.take_right(box.w - figures);
    const float height = theme.px(6);
    kit::fill({bar.x, bar.center_y() - height / 2,
               std::max(2.0f, bar.w * static_cast<float>(*cell.bar)), height},
              kit::color(p.compute), theme.px(2));
  }
  float unit = cell.unit.empty() ? 0 : kit::text_width(theme, kit::Face::kSmall, cell.unit);
  // A name that is cut tells nothing apart; its unit is to be read elsewhere, too.
  if (is_name && kit::text_width(theme, face, cell.text) > box.w - unit - theme.px(6)) unit = 0;
  state::Rect words = box;
  if (unit > 0) words.take_right(unit, theme.px(6));
  const float x = draw_words(theme, words, face, is_name, cell) + theme.px(6);
  if (unit == 0) return;
  kit::label_in(theme, {x, box.y, std::max(0.0f, box.right() - x), box.h}, kit::Face::kSmall,
                p.text_muted, cell.unit);
}

void draw_bar_cell(const kit::Theme& theme, state::Rect box, const present::TableCell& cell) {
  const state::Palette& p = theme.colors();
  const float figures = theme.px(52);
  const float room = box.w - figures;
  if (room > theme.px(16) && cell.bar) {
    const float width = std::max(2.0f, room * static_cast<float>(std::clamp(*cell.bar, 0.0, 1.0)));
    const float height = theme.px(9);
    kit::fill({box.x, box.center_y() - height / 2, width, height},
              kit::color(ink_of(p, cell), 0.75f), theme.px(2));
    box.take_left(width, theme.px(6));
  }
  present::TableCell figure = cell;
  figure.tone = state::Tone::kSecondary;
  const float value = kit::text_in(theme, box, kit::Face::kMonoSmall, p.text_secondary, cell.text);
  box.take_left(value, theme.px(4));
  kit::label_in(theme, box, kit::Face::kSmall, p.text_muted, cell.unit);
}

void draw_stack(const kit::Theme& theme, const state::Rect& box, const present::TableCell& cell) {
  const float height = theme.px(10);
  const float y = std::round(box.center_y() - height / 2);
  double at = 0;
  for (const auto& [piece_class, share] : cell.parts) {
    const float left = std::round(box.x + box.w * static_cast<float>(std::clamp(at, 0.0, 1.0)));
    at += share;
    const float right = std::round(box.x + box.w * static_cast<float>(std::clamp(at, 0.0, 1.0)));
    const state::Palette& p = theme.colors();
    const bool idle = piece_class == TimeClass::kIdle;
    kit::fill({left, y, right - left, height},
              kit::color(idle ? p.idle : state::piece_edge(p, piece_class)));
  }
}

void draw_heat(const kit::Theme& theme, const state::Rect& box, const present::TableCell& cell) {
  const state::Palette& p = theme.colors();
  const state::Rect field = box.inset(1, 1);
  if (!cell.bar) return;
  const state::Rgb ink = cell.is_marked ? p.exposed : ink_of(p, cell);
  const double share = std::clamp(*cell.bar, 0.0, 1.0);
  const state::Rgb shade =
      cell.is_marked ? state::mix(p.panel, ink, 0.9) : state::mix(p.panel, ink, 0.05 + 0.4 * share);
  kit::fill(field, kit::color(shade), theme.px(2));
  const std::string full = cell.unit.empty() ? cell.text : cell.text + " " + cell.unit;
  const state::Rect inner = field.inset(theme.px(4), 0);
  // A figure without its unit would be read as another one.
  kit::label_in(theme, inner, kit::Face::kMonoSmall, state::text_on(shade), full,
                kit::Align::kRight);
}

// Right-aligned with the unit in a slot of its own, so that the digits of a column stand in line.
void draw_figure(const kit::Theme& theme, const state::Rect& box, const present::TableCell& cell) {
  const state::Palette& p = theme.colors();
  state::Rect rest = box;
  if (!cell.unit.empty()) {
    const float slot = std::max(theme.px(20), kit::text_width(theme, kit::Face::kSmall, cell.unit));
    const state::Rect unit = rest.take_right(slot, theme.px(4));
    kit::label_in(theme, unit, kit::Face::kSmall, p.text_muted, cell.unit);
  }
  const float width = kit::text_in(theme, rest, kit::Face::kMono, state::tone_color(p, cell.tone),
                                   cell.text, kit::Align::kRight);
  if (cell.is_marked && width > 0) {
    const float x = rest.right() - width - theme.px(12);
    if (x > rest.x)
      kit::shape(kit::Shape::kWarning, x, rest.center_y(), theme.px(11), kit::color(p.exposed));
  }
}

}  // namespace

void draw_table_cell(const kit::Theme& theme, const state::Rect& box,
                     present::TableColumn::Kind kind, const present::TableCell& cell) {
  const state::Palette& p = theme.colors();
  switch (kind) {
    case present::TableColumn::Kind::kText:
      draw_words(theme, box, kit::Face::kBody, false, cell);
      return;
    case present::TableColumn::Kind::kCode:
      draw_words(theme, box, kit::Face::kMono, true, cell);
      return;
    case present::TableColumn::Kind::kName:
      return draw_value(theme, box, kit::Face::kMedium, true, cell);
    case present::TableColumn::Kind::kValue:
      return draw_value(theme, box, kit::Face::kMono, false, cell);
    case present::TableColumn::Kind::kFigure:
      return draw_figure(theme, box, cell);
    case present::TableColumn::Kind::kBar:
      return draw_bar_cell(theme, box, cell);
    case present::TableColumn::Kind::kHistogram:
      if (cell.histogram != nullptr) {
        draw_small_histogram(theme, box.inset(0, theme.px(4)), *cell.histogram, ink_of(p, cell));
      }
      return;
    case present::TableColumn::Kind::kStack:
      return draw_stack(theme, box, cell);
    case present::TableColumn::Kind::kHeat:
      return draw_heat(theme, box, cell);
  }
}

}  // namespace shardlens::ui::table
