#include "ui/inspect/draw/timeline_tooltip.h"

#include "ui/inspect/timeline/item_facts.h"
#include "ui/kit/draw_probe.h"
#include "ui/kit/widgets.h"
#include "ui/present/timeline_colors.h"

namespace shardlens::ui {

void draw_timeline_tooltip(const TimelineScene& scene, const RowItem& item) {
  const ItemFacts facts = item_facts(scene.rows, scene.borders, item);
  const TooltipScope tip(scene.theme());
  tip.title(facts.title);
  if (!facts.what.empty()) tip.note(facts.what);
  for (const ItemFacts::Row& row : facts.rows) {
    const Rgb swatch =
        time_color(scene.theme().colors(), row.swatch.value_or(trace::TimeClass::kIdle));
    tip.row(row.swatch ? &swatch : nullptr, row.name, row.value);
  }
  for (const std::string& note : facts.notes) tip.note(note);
}

bool draw_timeline_card(const TimelineScene& scene, const RowItem& item) {
  const Theme& theme = scene.theme();
  const Palette& p = theme.colors();
  const ItemFacts facts = item_facts(scene.rows, scene.borders, item);
  const float row_height = theme.px(19), note_height = theme.px(18);
  const float width = theme.px(264), inner = width - theme.px(24);
  float height = theme.px(12 + 22) + row_height * static_cast<float>(facts.rows.size());
  std::vector<std::pair<std::string, float>> notes;
  if (!facts.what.empty()) notes.emplace_back(facts.what, 0.0f);
  for (const std::string& note : facts.notes) notes.emplace_back(note, 0.0f);
  for (auto& [text, own] : notes) {
    own = std::max(note_height, wrapped_height(theme, Face::kSmall, inner, text) + theme.px(4));
    height += own;
  }
  const Rect& plot = scene.plot();
  const Rect card{plot.right() - width - theme.px(8), plot.y + theme.px(8), width, height};
  if (card.x < plot.x || card.bottom() > plot.bottom()) return false;
  if (theme.probe != nullptr) ++theme.probe->layer;
  fill({card.x, card.y + theme.px(3), card.w, card.h}, color(p.window, 0.4f), theme.px(8));
  fill(card, color(p.popup), theme.px(8));
  outline(card, color(p.field_edge), theme.px(8));
  Rect rest = card.inset(theme.px(12), theme.px(6));
  Rect first = rest.take_top(theme.px(22));
  const Rect close = first.take_right(theme.px(18), theme.px(6));
  text_in(theme, first, Face::kStrong, p.text, facts.title);
  const auto draw_note = [&](const std::pair<std::string, float>& note) {
    text_wrapped(theme, rest.take_top(note.second), Face::kSmall, p.text_muted, note.first);
  };
  const std::size_t above = facts.what.empty() ? 0 : 1;
  if (above > 0) draw_note(notes.front());
  for (const ItemFacts::Row& row : facts.rows) {
    Rect line = rest.take_top(row_height);
    if (row.swatch) {
      const Rect mark = line.take_left(theme.px(9), theme.px(6));
      fill({mark.x, mark.center_y() - mark.w / 2, mark.w, mark.w},
           color(time_color(p, *row.swatch)), theme.px(2));
    }
    const float value = text_in(theme, line, Face::kMono, p.text, row.value, Align::kRight);
    line.take_right(value, theme.px(8));
    text_in(theme, line, Face::kBody, p.text_secondary, row.name);
  }
  for (std::size_t i = above; i < notes.size(); ++i) draw_note(notes[i]);
  const bool closed = icon_button(theme, "timeline/close", close, Shape::kCross);
  if (theme.probe != nullptr) --theme.probe->layer;
  return closed;
}

}  // namespace shardlens::ui
