#include "ui/tune/settings/prediction_card.h"

#include <algorithm>

#include "ui/kit/widgets.h"

namespace shardlens::ui::tune {

namespace {

constexpr float kTitle = 18, kMostLines = 3;

float detail_height(const kit::Theme& theme, float width, const present::PredictionNote& note) {
  const float line = kit::wrapped_height(theme, kit::Face::kSmall, width, "x");
  const float wanted = kit::wrapped_height(theme, kit::Face::kSmall, width, note.detail);
  return std::min(wanted, kMostLines * line);
}

}  // namespace

float prediction_card_height(const kit::Theme& theme, float width,
                             const present::PredictionNote& note) {
  return theme.px(kTitle) + detail_height(theme, width, note);
}

void draw_prediction_card(const kit::Theme& theme, const state::Rect& rect,
                          const present::PredictionNote& note) {
  const state::Palette& p = theme.colors();
  state::Rect rest = rect;
  kit::text_in(theme, rest.take_top(theme.px(kTitle)), kit::Face::kMedium,
               note.is_refused ? p.text_muted : p.changed, note.title);
  kit::text_wrapped(theme, rest, kit::Face::kSmall, p.text_muted, note.detail);
  if (!kit::hovers(rect)) return;
  const kit::TooltipScope scope(theme);
  scope.title(note.title);
  if (note.is_refused) scope.note(note.detail);
  for (const auto& row : note.rows) scope.row(nullptr, row.name, row.value);
  for (const auto& text : note.notes) scope.note(text);
}

}  // namespace shardlens::ui::tune
