#include "ui/lesson/learn_workspace.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/kit/keys.h"
#include "ui/kit/panel.h"
#include "ui/lesson/lesson_page.h"

namespace shardlens::ui::lesson {

namespace {

constexpr float kColumnWidth = 400;

}  // namespace

float LearnWorkspace::column_width(const kit::Theme& theme, float window_width) {
  return std::min(theme.px(kColumnWidth), std::floor(window_width / 3));
}

void LearnWorkspace::draw(const kit::Theme& theme, const state::Rect& column,
                          const state::Snapshot& snapshot, state::Commands& commands) {
  reader_.take(snapshot.lessons);
  if (column.empty()) return;
  kit::panel_surface(theme, column);
  if (reader_.page() != nullptr) return draw_lesson_page(theme, column, reader_, commands);
  draw_lesson_shelf(theme, column, reader_, commands);
}

void LearnWorkspace::use_keys() {
  if (kit::key_pressed(kit::Key::kPageDown, false)) reader_.go_on();
  if (kit::key_pressed(kit::Key::kPageUp, false)) reader_.go_back();
}

LearnWorkspace::Turn LearnWorkspace::follow(const std::string& workspace,
                                            const state::Snapshot& snapshot,
                                            state::Commands& commands) {
  Turn turn;
  const bool was_on_screen = std::exchange(is_on_screen_, workspace == state::kLearnWorkspace);
  turn.entered = is_on_screen_ && !was_on_screen;
  turn.left = was_on_screen && !is_on_screen_;
  if (turn.entered || turn.left) commands.push_back(state::ShowLessons{is_on_screen_});
  if (turn.entered) reader_.show_view_again();  // meanwhile something else was shown
  const bool is_new = std::exchange(seen_, snapshot.gone_to) != snapshot.gone_to;
  if (!is_on_screen_) {
    shown_ = workspace;
    return turn;
  }
  if (auto wanted = reader_.take_wanted()) commands.push_back(std::move(*wanted));
  if (is_new && seen_) turn.arrived = *seen_;
  return turn;
}

}  // namespace shardlens::ui::lesson
