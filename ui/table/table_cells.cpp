#include "ui/table/table_cells.h"

#include <algorithm>
#include <cmath>

#include "ui/kit/paint.h"
#include "ui/present/timeline/timeline_colors.h"
#include "ui/table/histogram.h"

namespace shardlens::ui::table {

namespace {

using trace::base::TimeClass;

state::Rgb ink_of(const state::Palette& p, const present::TableCell& cell) {
  return cell.mark ? present::piece_edge(p, *cell.mark) : p.compute;
}

void draw_words(const kit::Theme& theme, state::Rect box, kit::Face face,
                const present::TableCell& cell) {
  const state::Palette& p = theme.colors();
  if (cell.is_marked) {
    const state::Rect sign = box.take_left(theme.px(12), theme.px(6));
    kit::shape(kit::Shape::kWarning, sign.center_x(), sign.center_y(), theme.px(12),
               kit::color(state::tone_color(p, cell.tone)));
  }
  if (cell.mark || cell.memory_mark) {
    const state::Rect place = box.take_left(theme.px(10), theme.px(8));
    const float side = theme.px(10);
    const state::Rgb ink =
        cell.mark ? present::piece_edge(p, *cell.mark) : state::memory_color(p, *cell.memory_mark);
    kit::fill({place.x, place.center_y() - side / 2, side, side}, kit::color(ink), theme.px(2));
  }
  const std::string shown =
      face == kit::Face::kMono ? kit::fitting_name(theme, face, cell.text, box.w) : cell.text;
  kit::text_in(theme, box, face, state::tone_color(p, cell.tone), shown);
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
              kit::color(idle ? p.idle : present::piece_edge(p, piece_class)));
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

}  // namespace

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

void draw_table_cell(const kit::Theme& theme, const state::Rect& box,
                     present::TableColumn::Kind kind, const present::TableCell& cell) {
  const state::Palette& p = theme.colors();
  switch (kind) {
    case present::TableColumn::Kind::kText:
      return draw_words(theme, box, kit::Face::kBody, cell);
    case present::TableColumn::Kind::kCode:
      return draw_words(theme, box, kit::Face::kMono, cell);
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
