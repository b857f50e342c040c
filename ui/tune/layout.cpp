#include "ui/tune/layout.h"

#include <algorithm>
#include <cmath>

namespace shardlens::ui::tune {

namespace {

constexpr float kSidebar = 304, kNarrowSidebar = 288;
constexpr float kMemory = 248, kWideMemory = 320;
// Of the column right of the timeline: memory with its names, and a piece of advice under it. Both
// fit a laptop of 1280 x 800 with a message above them and a long ledger below.
constexpr float kLeastMemory = 286, kLeastAdvice = 170, kAdviceShare = 0.42f, kMostAdvice = 400;
constexpr float kLackingMemory = 84;
constexpr float kLearningShare = 0.4f, kMostLearning = 560;
constexpr float kFoldedDock = 36, kLeastDock = 168;
// The dock's tabs, the ledger's head and foot; one of its rows.
constexpr float kDockFrame = 92, kDockRow = 28;
constexpr float kLeastTimeline = 110, kLeastSteps = 88;
// Below these, in lengths of scale 1, there is no room for memory beside the timeline, or for the
// ledger under it.
constexpr float kWidthForMemory = 1160, kWidthForWideMemory = 1800, kHeightForDock = 640;
constexpr float kWidthForLearning = 880;  // of step times and it together

// High enough for every run, as far as that leaves the timeline its part of the window.
float dock_height(int rows, float window) {
  const float most = std::clamp(window * 0.27f, kLeastDock, 340.0f);
  if (rows < 0) return most;
  return std::clamp(kDockFrame + kDockRow * static_cast<float>(rows), kLeastDock, most);
}

// Step times give way to the timeline down to their own least height; without room for both they
// stay alone.
void share_low_center(TuneLayout& out, float least_steps, float least_timeline, float gap) {
  state::Rect all{out.steps.x, out.steps.y, out.steps.w, out.timeline.bottom() - out.steps.y};
  if (all.h < least_steps + gap + least_timeline) {
    out.steps = all;
    out.timeline = {};
    return;
  }
  out.timeline = all.take_bottom(least_timeline, gap);
  out.steps = all;
}

// Advice lies under memory, where both have room.
void share_right_column(TuneLayout& out, const LayoutInput& input, const auto& px) {
  const float memory = input.lacks_memory ? kLackingMemory : kLeastMemory;
  if (out.memory.h < px(memory + kPanelGap + kLeastAdvice)) return;
  const float most = out.memory.h - px(memory + kPanelGap);
  const float wanted = std::max(out.memory.h * kAdviceShare, px(kLeastAdvice));
  const float advice = input.lacks_memory ? most : std::min({wanted, px(kMostAdvice), most});
  out.advice = out.memory.take_bottom(std::round(advice), px(kPanelGap));
}

}  // namespace

TuneLayout tune_layout(const LayoutInput& input) {
  const float s = input.scale;
  const auto px = [s](float length) { return std::round(length * s); };
  const float lesson = input.lesson_width > 0 ? input.lesson_width + px(kPanelGap) : 0;
  const float width = (input.width - lesson) / s, height = input.height / s;

  TuneLayout out;
  state::Rect rest{0, 0, input.width, input.height};
  out.top_bar = rest.take_top(px(kTopBarHeight));
  rest = rest.inset(px(kPanelGap), 0);
  rest.take_top(px(kPanelGap));
  rest.take_bottom(px(kPanelGap));
  if (lesson > 0) out.lesson = rest.take_left(input.lesson_width, px(kPanelGap));
  if (input.messages_height > 0) out.messages = rest.take_top(input.messages_height, px(kPanelGap));
  if (input.replay) out.replay = rest.take_top(px(kReplayHeight), px(kPanelGap));
  if (!input.fold_knobs) {
    out.knobs = rest.take_left(px(width < 1000 ? kNarrowSidebar : kSidebar), px(kPanelGap));
  }

  const bool low = height < kHeightForDock;
  out.dock_folded = input.fold_dock || (low && !input.open_dock);
  const float dock = out.dock_folded ? kFoldedDock : dock_height(input.dock_rows, height);
  out.dock = rest.take_bottom(px(dock), px(kPanelGap));
  if (width >= kWidthForMemory) {
    const float column = width >= kWidthForWideMemory ? kWideMemory : kMemory;
    out.memory = rest.take_right(px(column), px(kPanelGap));
  }
  const float steps = std::clamp(height * 0.215f, 116.0f, 264.0f);
  out.steps = rest.take_top(px(steps), px(kPanelGap));
  out.timeline = rest;
  const bool shows_learning = input.learns && out.steps.w >= px(kWidthForLearning);
  const float learning = std::min(px(kMostLearning), std::round(out.steps.w * kLearningShare));
  if (rest.h < px(kLeastTimeline) &&
      !out.dock_folded) {  // the user opened the ledger: it takes over
    const float bottom = out.dock.bottom();
    out.dock = {rest.x, rest.y, rest.w, bottom - rest.y};
    if (!out.memory.empty()) out.memory.h = bottom - out.memory.y;
    out.timeline = {};
  } else if (rest.h < px(kLeastTimeline)) {
    share_low_center(out, px(kLeastSteps), px(kLeastTimeline), px(kPanelGap));
  }
  if (shows_learning) out.learning = out.steps.take_right(learning, px(kPanelGap));
  share_right_column(out, input, px);
  return out;
}

int rows_with_room(const LayoutInput& input) {
  const TuneLayout layout = tune_layout(input);
  if (layout.dock_folded) return 0;
  return static_cast<int>(std::ceil(layout.dock.h / (kDockRow * input.scale)));
}

}  // namespace shardlens::ui::tune
