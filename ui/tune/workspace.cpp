#include "ui/tune/workspace.h"

#include <algorithm>

#include "ui/learn/learning_chart.h"
#include "ui/learn/learning_panel.h"
#include "ui/tune/panels.h"

namespace shardlens::ui::tune {

namespace {

constexpr float kLowestTimeline = 170;  // below it one rank does not fit under its title and axis

}  // namespace

void TuneWorkspace::draw_center(const kit::Theme& theme, const TuneLayout& layout,
                                const state::Snapshot& snapshot, bool keys,
                                state::Commands& commands) {
  const bool nothing =
      !snapshot.run || (snapshot.run->figures.steps.empty() &&
                        failure_card_height(theme, snapshot, layout.timeline.h) == 0);
  if (nothing) {
    const state::Rect& last = layout.memory.empty() ? layout.steps : layout.memory;
    const state::Rect all{layout.steps.x, layout.steps.y, last.right() - layout.steps.x,
                          std::max(layout.steps.h, layout.timeline.bottom() - layout.steps.y)};
    return draw_empty_state(theme, all, snapshot, commands);
  }
  state::Rect timeline = layout.timeline;
  const float card = failure_card_height(theme, snapshot, timeline.h);
  const std::string& folder = snapshot.run->figures.info.folder;
  if (card > 0 && !timeline.empty() && folder != hidden_failure_) {
    const bool room_below = timeline.h - card > theme.px(kLowestTimeline);
    const state::Rect area = timeline.take_top(room_below ? card : timeline.h, theme.px(8));
    if (draw_failure_card(theme, area, snapshot, commands)) hidden_failure_ = folder;
  }
  draw_step_chart_panel(theme, layout.steps, snapshot, commands);
  if (!layout.learning.empty())
    learn::draw_learning_panel(theme, layout.learning, snapshot, commands);
  if (!timeline.empty())
    timeline_.draw(theme, timeline, snapshot, keys, layout.knobs.empty(), commands);
  if (!layout.memory.empty()) draw_memory_panel(theme, layout.memory, snapshot);
  if (!layout.advice.empty()) advice_.draw(theme, layout.advice, snapshot, commands);
}

void TuneWorkspace::draw(const kit::Theme& theme, const TuneLayout& layout,
                         const state::Snapshot& snapshot, bool keys, bool& fold_dock,
                         state::Commands& commands) {
  if (!layout.replay.empty()) draw_replay_bar(theme, layout.replay, snapshot, commands);
  if (!layout.knobs.empty()) knobs_.draw(theme, layout.knobs, snapshot, commands);
  draw_center(theme, layout, snapshot, keys, commands);
  const bool learns = snapshot.run && learn::has_learning(snapshot.run->figures);
  const DockPanel::Input dock{.folded = layout.dock_folded,
                              .offers_memory = layout.memory.empty(),
                              .offers_learning = learns && layout.learning.empty(),
                              .offers_advice = layout.advice.empty()};
  if (dock_.draw(theme, layout.dock, dock, snapshot, advice_, commands)) {
    fold_dock = !layout.dock_folded;
    open_dock_ = layout.dock_folded;
  }
  if (const auto shown = advice_.take_shown()) timeline_.show(*shown);
}

void TuneWorkspace::show_in_dock(DockPanel::Tab tab, bool& fold_dock) {
  dock_.show(tab);
  fold_dock = false;
  open_dock_ = true;
}

std::int64_t neighbour_step(const state::Snapshot& snapshot, int direction) {
  if (!snapshot.run) return -1;
  const auto& steps = snapshot.run->figures.steps;
  const auto at =
      std::ranges::find(steps, snapshot.run->selected_step, &trace::analysis::StepFigures::index);
  if (at == steps.end()) return -1;
  const auto index = (at - steps.begin()) + direction;
  if (index < 0 || index >= static_cast<std::ptrdiff_t>(steps.size())) return -1;
  return steps[static_cast<std::size_t>(index)].index;
}

}  // namespace shardlens::ui::tune
