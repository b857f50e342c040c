#include "ui/compare/compared_timelines.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "ui/compare/compare_layout.h"
#include "ui/compare/run_chips.h"
#include "ui/inspect/draw/timeline_mouse.h"
#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"
#include "ui/present/step_chart.h"

namespace shardlens::ui::compare {

namespace {

constexpr float kTitleRow = 20;

std::string board_name(std::size_t run) { return "compare/timeline/" + std::to_string(run); }

// Whether the run does not have the step. While a step is being read, another one of the run may be
// on screen.
bool lacks(const state::RunView& run, std::int64_t step) {
  return step >= 0 && !std::ranges::binary_search(run.figures.steps, step, {},
                                                  &trace::analysis::StepFigures::index);
}

// The picture of `step`, or of a typical one; null: the run has none to show.
const trace::timeline::StepPicture* step_of(const state::ComparedRun& run, std::int64_t step) {
  if (!run.run || lacks(*run.run, step)) return nullptr;
  const auto* shown = run.run->timeline.get();
  return shown != nullptr && !shown->rows->ranks.empty() ? shown : nullptr;
}

// The longest of the steps on screen, which all of them are drawn on the scale of.
std::int64_t longest_step_ns(const state::ComparisonView& view) {
  std::int64_t longest = 0;
  for (const auto& run : view.runs) {
    if (const auto* step = step_of(run, view.step)) {
      longest = std::max(longest, step->rows->end_ns - step->rows->start_ns);
    }
  }
  return longest;
}

std::string why_no_timeline(const state::ComparedRun& run, std::int64_t step) {
  if (!run.problem.empty()) return run.problem;
  if (!run.run) return "Reading the run…";
  if (run.run->selected_step < 0) return "No step was recorded";
  if (lacks(*run.run, step)) return "The run has no step " + present::format_integer(step);
  const auto* shown = step_of(run, step);
  if (shown != nullptr && shown->awaits_detail)
    return std::string(present::missing_records(run.run->figures.info).reason);
  return "This step was recorded without detail";
}

std::string step_text(const trace::timeline::StepPicture* shown) {
  if (shown == nullptr) return "";
  const auto length = static_cast<double>(shown->rows->end_ns - shown->rows->start_ns);
  return "step " + present::format_integer(shown->step) + " · " +
         present::format_duration(length).text();
}

}  // namespace

void ComparedTimelines::follow(const state::ComparisonView& view) {
  while (boards_.size() < view.runs.size()) {
    boards_.push_back(std::make_unique<inspect::TimelineBoard>(board_name(boards_.size())));
  }
  boards_.resize(view.runs.size());
  const std::int64_t longest = longest_step_ns(view);
  for (std::size_t i = 0; i < boards_.size(); ++i) {
    const auto* step = step_of(view.runs[i], view.step);
    if (step == nullptr) continue;
    boards_[i]->follow(view.runs[i].folder, *step, step->rows->start_ns + longest);
  }
  window_.set_extent(0, std::max<std::int64_t>(longest, 1));
}

void ComparedTimelines::draw_run(const kit::Theme& theme, const state::Rect& rect,
                                 const state::ComparisonView& view, std::size_t index, bool keys,
                                 state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const state::ComparedRun& run = view.runs[index];
  kit::panel_surface(theme, rect);
  state::Rect rest = rect.inset(theme.px(8), theme.px(2));
  state::Rect title = rest.take_top(theme.px(kTitleRow));
  draw_run_letter(theme, title.take_left(theme.px(18), theme.px(6)), index);
  const auto* shown = step_of(run, view.step);
  const std::string step = step_text(shown);
  const float width = kit::text_width(theme, kit::Face::kSmall, step);
  kit::label_in(theme, title.take_right(width, theme.px(12)), kit::Face::kSmall, p.text_secondary,
                step);
  kit::text_in(theme, title, kit::Face::kMedium, p.text, run.name);
  if (shown == nullptr || !shown->has_detail) {
    kit::text_in(theme, rest, kit::Face::kBody, run.problem.empty() ? p.text_muted : p.danger,
                 why_no_timeline(run, view.step), kit::Align::kCenter);
    return;
  }
  const kit::Panel panel(theme, board_name(index).c_str(), rest, {.plain = true});
  inspect::TimelineBoard& board = *boards_[index];
  inspect::TimelineState& state = board.state();
  state.step_window = window_;
  if (state.measuring != measuring_) inspect::toggle_measure(state);
  board.draw(theme, panel.body, {}, keys, commands);
  window_ = state.step_window;
  measuring_ = state.measuring;
}

void ComparedTimelines::draw(const kit::Theme& theme, const state::Rect& rect, float height,
                             const state::ComparisonView& view, bool keys,
                             state::Commands& commands) {
  follow(view);
  const auto runs = static_cast<float>(view.runs.size());
  const float all = runs * height + (runs - 1) * theme.px(kTimelineGap);
  const bool scrolls = all > rect.h + 0.5f;
  const kit::Panel panel(theme, "compare timelines", rect,
                         {.scrolls = scrolls, .wheel = false, .plain = true});
  state::Rect rest = panel.body;
  rest.h = all;
  if (scrolls) {
    panel.content_height(all);
    scroll(theme, rect, height, view.runs.size());
    rest.w -= ImGui::GetStyle().ScrollbarSize + theme.px(4);
  }
  bool takes_keys = keys;
  for (std::size_t i = 0; i < view.runs.size(); ++i) {
    const state::Rect row = rest.take_top(height, theme.px(kTimelineGap));
    // One of them obeys the keyboard, all move.
    draw_run(theme, row, view, i, takes_keys, commands);
    const auto* shown = step_of(view.runs[i], view.step);
    if (shown != nullptr && shown->has_detail) takes_keys = false;
  }
}

void ComparedTimelines::scroll(const kit::Theme& theme, const state::Rect& rect, float height,
                               std::size_t runs) {
  const float pitch = height + theme.px(kTimelineGap);
  float at = ImGui::GetScrollY();
  if (wanted_ && *wanted_ < runs) {
    const float top = pitch * static_cast<float>(*wanted_);
    at = std::clamp(at, std::max(0.0f, top + height - rect.h), top);
    ImGui::SetScrollY(at);
  }
  wanted_.reset();
  const ImGuiIO& io = ImGui::GetIO();
  if (io.MouseWheel == 0 || !ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows)) return;
  const float within = std::fmod(io.MousePos.y - rect.y + at, pitch);
  if (within > theme.px(kTitleRow)) return;
  ImGui::SetScrollY(std::max(0.0f, at - io.MouseWheel * pitch));
}

}  // namespace shardlens::ui::compare
