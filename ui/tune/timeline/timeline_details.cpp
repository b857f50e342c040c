// What the timeline says about the item under the mouse, and about the one that was clicked.
#include "ui/kit/draw_probe.h"
#include "ui/kit/widgets.h"
#include "ui/tune/timeline/timeline_draw.h"

namespace shardlens::ui {

namespace {

using Swatch = ItemDetails::Row::Swatch;

const Rgb* swatch_color(const Palette& p, Swatch swatch) {
  if (swatch == Swatch::kOverlapped) return &p.overlapped;
  return swatch == Swatch::kExposed ? &p.exposed : nullptr;
}

}  // namespace

void draw_item_tooltip(const Theme& theme, const TimelineItem& item, std::int64_t step) {
  const ItemDetails details = item_details(item, step);
  const TooltipScope scope(theme);
  scope.title(details.title);
  scope.note(details.what);
  for (const ItemDetails::Row& row : details.rows) {
    scope.row(swatch_color(theme.colors(), row.swatch), row.name, row.value);
  }
  if (!details.note.empty()) scope.note(details.note);
  if (!details.why_unknown.empty()) scope.note(details.why_unknown);
  scope.note(details.where);
}

bool draw_item_card(const Theme& theme, const Rect& plot, const TimelineItem& item,
                    std::int64_t step) {
  const Palette& p = theme.colors();
  const ItemDetails details = item_details(item, step);
  const float row_height = theme.px(19);
  const float height = theme.px(12 + 20 + 18 + 18 + 8 + (details.note.empty() ? 0 : 18)) +
                       row_height * static_cast<float>(details.rows.size());
  Rect card{plot.right() - theme.px(272), plot.y + theme.px(8), theme.px(264), height};
  if (card.x < plot.x || card.bottom() > plot.bottom()) return false;
  if (theme.probe != nullptr) ++theme.probe->layer;
  fill({card.x, card.y + theme.px(3), card.w, card.h}, color(p.window, 0.4f), theme.px(8));
  fill(card, color(p.popup), theme.px(8));
  outline(card, color(p.field_edge), theme.px(8));
  Rect rest = card.inset(theme.px(12), theme.px(8));
  Rect first = rest.take_top(theme.px(22));
  const Rect close = first.take_right(theme.px(18), theme.px(6));
  text_in(theme, first, Face::kStrong, p.text, details.title);
  text_in(theme, rest.take_top(theme.px(18)), Face::kSmall, p.text_muted, details.what);
  for (const ItemDetails::Row& row : details.rows) {
    Rect line = rest.take_top(row_height);
    if (const Rgb* hue = swatch_color(p, row.swatch)) {
      const Rect mark = line.take_left(theme.px(9), theme.px(6));
      fill({mark.x, mark.center_y() - mark.w / 2, mark.w, mark.w}, color(*hue), theme.px(2));
    }
    const float value = text_in(theme, line, Face::kMono, p.text, row.value, Align::kRight);
    line.take_right(value, theme.px(8));
    text_in(theme, line, Face::kBody, p.text_secondary, row.name);
  }
  if (!details.note.empty()) {
    text_in(theme, rest.take_top(theme.px(18)), Face::kSmall, p.text_muted, details.note);
  }
  text_in(theme, rest, Face::kSmall, p.text_muted, details.where);
  const bool closed = icon_button(theme, "timeline/close", close, Shape::kCross);
  if (theme.probe != nullptr) --theme.probe->layer;
  return closed;
}

}  // namespace shardlens::ui
