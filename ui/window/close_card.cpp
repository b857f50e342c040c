#include "ui/window/close_card.h"

#include <algorithm>
#include <cmath>

#include "ui/kit/focus_ring.h"
#include "ui/kit/keys.h"
#include "ui/kit/popup.h"
#include "ui/kit/widgets.h"
#include "ui/present/job_text.h"

namespace shardlens::ui::window {

namespace {

constexpr float kCardWidth = 460, kCardMargin = 16, kCardPadding = 20, kCardTitle = 34,
                kCardButtons = 36;

bool confirmed_by_key(const kit::Theme& theme) {
  const bool is_rings = theme.focus != nullptr && theme.focus->took_key();
  return kit::enter_pressed() && !ImGui::GetIO().KeyCtrl && !is_rings;
}

}  // namespace

void draw_close_card(const kit::Theme& theme, const state::Rect& window,
                     const state::Snapshot& snapshot, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const present::ClosingText text = present::closing_text(snapshot);
  const float width = std::min(theme.px(kCardWidth), window.w - 2 * theme.px(kCardMargin));
  const float padding = theme.px(kCardPadding), gap = theme.px(8);
  const float content = width - 2 * padding;
  const float now = kit::wrapped_height(theme, kit::Face::kBody, content, text.going_on);
  const float then = kit::wrapped_height(theme, kit::Face::kBody, content, text.effect);
  const float height =
      std::round(2 * padding + theme.px(kCardTitle + kCardButtons) + now + then + 4 * gap);
  const state::Rect box{std::round(window.center_x() - width / 2),
                        std::round(window.center_y() - height / 2), width, height};
  const kit::Overlay overlay(theme, "##close", window, box);
  state::Rect rest = box.inset(padding, padding);
  kit::text_in(theme, rest.take_top(theme.px(kCardTitle), gap), kit::Face::kTitle, p.text,
               "Close Shardlens?");
  kit::text_wrapped(theme, rest.take_top(now, gap), kit::Face::kBody, p.text, text.going_on);
  kit::text_wrapped(theme, rest.take_top(then), kit::Face::kBody, p.text_secondary, text.effect);
  state::Rect row = rest.take_bottom(theme.px(kCardButtons));
  row = row.inset(0, (row.h - theme.px(30)) / 2);
  if (kit::button_at_right(theme, "close/stop", row, kit::ButtonKind::kDanger, "Stop and close") ||
      confirmed_by_key(theme)) {
    commands.push_back(state::Quit{});
  }
  if (kit::button_at_right(theme, "close/keep", row, kit::ButtonKind::kQuiet, "Keep open") ||
      overlay.wants_to_close()) {
    commands.push_back(state::KeepOpen{});
  }
  kit::label_in(theme, row, kit::Face::kSmall, p.text_muted, "Enter closes, Esc keeps open");
}

}  // namespace shardlens::ui::window
