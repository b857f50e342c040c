#include "ui/inspect/draw/timeline_parts.h"
#include "ui/inspect/timeline/item_facts.h"
#include "ui/kit/draw_probe.h"
#include "ui/kit/widgets.h"

namespace shardlens::ui::inspect {

void draw_timeline_tooltip(const TimelineScene& scene, const RowItem& item) {
  const ItemFacts facts = item_facts(scene.rows, scene.borders, item);
  const kit::TooltipScope tip(scene.theme());
  tip.title(facts.title);
  if (!facts.what.empty()) tip.note(facts.what);
  for (const ItemFacts::Row& row : facts.rows) {
    const state::Rgb swatch = state::time_color(scene.theme().colors(),
                                                row.swatch.value_or(trace::base::TimeClass::kIdle));
    tip.row(row.swatch ? &swatch : nullptr, row.name, row.value);
  }
  for (const std::string& note : facts.notes) tip.note(note);
}

bool draw_timeline_card(const TimelineScene& scene, const RowItem& item) {
  const kit::Theme& theme = scene.theme();
  const state::Palette& p = theme.colors();
  const ItemFacts facts = item_facts(scene.rows, scene.borders, item);
  const float row_height = theme.px(19), note_height = theme.px(18);
  const float width = theme.px(264), inner = width - theme.px(24);
  float height = theme.px(12 + 22) + row_height * static_cast<float>(facts.rows.size());
  std::vector<std::pair<std::string, float>> notes;
  if (!facts.what.empty()) notes.emplace_back(facts.what, 0.0f);
  for (const std::string& note : facts.notes) notes.emplace_back(note, 0.0f);
  for (auto& [text, own] : notes) {
    own = std::max(note_height,
                   kit::wrapped_height(theme, kit::Face::kSmall, inner, text) + theme.px(4));
    height += own;
  }
  const state::Rect& plot = scene.plot();
  const state::Rect card{plot.right() - width - theme.px(8), plot.y + theme.px(8), width, height};
  if (card.x < plot.x || card.bottom() > plot.bottom()) return false;
  if (theme.probe != nullptr) ++theme.probe->layer;
  kit::fill({card.x, card.y + theme.px(3), card.w, card.h}, kit::color(p.window, 0.4f),
            theme.px(8));
  kit::bordered(card, kit::color(p.popup), kit::color(p.field_edge), theme.px(8));
  state::Rect rest = card.inset(theme.px(12), theme.px(6));
  state::Rect first = rest.take_top(theme.px(22));
  const state::Rect close = first.take_right(theme.px(18), theme.px(6));
  kit::text_in(theme, first, kit::Face::kStrong, p.text, facts.title);
  const auto draw_note = [&](const std::pair<std::string, float>& note) {
    kit::text_wrapped(theme, rest.take_top(note.second), kit::Face::kSmall, p.text_muted,
                      note.first);
  };
  const std::size_t above = facts.what.empty() ? 0 : 1;
  if (above > 0) draw_note(notes.front());
  for (const ItemFacts::Row& row : facts.rows) {
    state::Rect line = rest.take_top(row_height);
    if (row.swatch) {
      const state::Rect mark = line.take_left(theme.px(9), theme.px(6));
      kit::fill({mark.x, mark.center_y() - mark.w / 2, mark.w, mark.w},
                kit::color(state::time_color(p, *row.swatch)), theme.px(2));
    }
    kit::take_text(theme, line, theme.px(8), kit::Face::kMono, p.text, row.value,
                   kit::Align::kRight);
    kit::text_in(theme, line, kit::Face::kBody, p.text_secondary, row.name);
  }
  for (std::size_t i = above; i < notes.size(); ++i) draw_note(notes[i]);
  const bool closed = kit::icon_button(theme, "timeline/close", close, kit::Shape::kCross);
  if (theme.probe != nullptr) --theme.probe->layer;
  return closed;
}

}  // namespace shardlens::ui::inspect
