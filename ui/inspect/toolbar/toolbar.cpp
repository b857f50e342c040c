#include "ui/inspect/toolbar/toolbar.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ui/inspect/timeline/clock_text.h"
#include "ui/kit/toolbar_controls.h"
#include "ui/kit/widgets.h"
#include "ui/present/timeline_colors.h"
#include "ui/present/timeline_time_text.h"

namespace shardlens::ui {

namespace {

using trace::RowKind;
using Mode = TimelineState::Mode;

constexpr float kControlHeight = 26, kToolbarGap = 12;
constexpr float kSearchWidth = 276, kLeastSearchWidth = 150;

constexpr std::array<Segment, 2> kModes{
    Segment{"Time", "All ranks over the whole run, by the clock"},
    Segment{"Steps aligned", "One rank's steps one above the other, aligned at their starts"}};

Rect control(const Theme& theme, const Rect& box) {
  const float height = std::min(theme.px(kControlHeight), box.h);
  return {box.x, std::round(box.center_y() - height / 2), box.w, height};
}

// Kinds of rows that the run has, in the order of the timeline; a ribbon is always shown.
std::vector<RowKind> kinds_of(const trace::TimelineRows& rows, Mode mode) {
  std::vector<RowKind> kinds;
  if (mode == Mode::kSteps) return {RowKind::kKernels, RowKind::kCommunication};
  for (const RowKind kind : {RowKind::kKernels, RowKind::kOperators, RowKind::kCommunication,
                             RowKind::kMemory, RowKind::kPhases, RowKind::kLaunches,
                             RowKind::kCopies, RowKind::kReady, RowKind::kGpu, RowKind::kCounter}) {
    const bool there =
        std::any_of(rows.rows.begin(), rows.rows.end(),
                    [kind](const trace::TimelineRow& row) { return row.kind == kind; });
    if (there) kinds.push_back(kind);
  }
  return kinds;
}

void tick_kind(const Theme& theme, const Rect& box, RowKind kind, RowFilter& filter) {
  bool shown = filter.shows(kind);
  const std::string_view name = kind_name(kind);
  if (draw_tick(theme, "inspect/kind " + std::string(name), box, name, shown)) {
    filter.set(kind, shown);
  }
}

// Where not all fit, the others are in a menu.
void draw_kinds(const Theme& theme, Rect& rest, const trace::TimelineRows& rows, Mode mode,
                RowFilter& filter) {
  const auto kinds = kinds_of(rows, mode);
  const float menu = menu_button_width(theme, "Rows");
  std::size_t fitting = 0;
  float used = 0;
  for (const RowKind kind : kinds) {
    used += tick_width(theme, kind_name(kind)) + theme.px(14);
    const bool last = fitting + 1 == kinds.size();
    if (used + (last ? 0 : menu) > rest.w) break;
    ++fitting;
  }
  if (fitting < kinds.size() && fitting < 2) fitting = 0;
  for (std::size_t i = 0; i < fitting; ++i) {
    const Rect box = rest.take_left(tick_width(theme, kind_name(kinds[i])), theme.px(14));
    tick_kind(theme, control(theme, box), kinds[i], filter);
  }
  if (fitting == kinds.size() || menu > rest.w) return;
  const Rect button = control(theme, rest.take_left(menu, theme.px(kToolbarGap)));
  if (draw_menu_button(theme, "inspect/rows", button, "Rows", "Which kinds of rows are shown")) {
    ImGui::OpenPopup("##rows");
  }
  const float row = theme.px(26);
  const MenuScope scope(theme, "##rows", button, theme.px(190),
                        row * static_cast<float>(kinds.size()) + theme.px(12));
  if (!scope.is_open()) return;
  Rect area = scope.area;
  for (const RowKind kind : kinds)
    tick_kind(theme, area.take_top(row).inset(theme.px(4), 0), kind, filter);
}

void choose_rank(const Theme& theme, Rect& rest, const trace::TimelineRows& rows,
                 const StepIndex& steps, TimelineState& state) {
  const int shown = state.step_rank < 0 ? steps.reference_rank() : state.step_rank;
  const std::string label = "Rank " + std::to_string(shown);
  const float arrow = theme.px(22), width = text_width(theme, Face::kMedium, label);
  const float needed = 2 * arrow + width + theme.px(8);
  if (needed > rest.w || rows.ranks.size() < 2) return;
  Rect box = control(theme, rest.take_left(needed, theme.px(kToolbarGap)));
  const auto move = [&](int by) {
    const auto at = std::find_if(rows.ranks.begin(), rows.ranks.end(),
                                 [shown](const auto& rank) { return rank.rank == shown; });
    const auto index = (at - rows.ranks.begin()) + by;
    if (index >= 0 && index < std::ssize(rows.ranks)) {
      state.step_rank = rows.ranks[static_cast<std::size_t>(index)].rank;
    }
  };
  if (icon_button(theme, "inspect/rank before", box.take_left(arrow), Shape::kLeft)) move(-1);
  if (icon_button(theme, "inspect/rank behind", box.take_right(arrow), Shape::kRight)) move(1);
  text_in(theme, box, Face::kMedium, theme.colors().text, label, Align::kCenter);
}

}  // namespace

std::int64_t search_origin(const TimelineState& state) {
  return state.picked ? state.picked->place.start_ns : state.window.time_at(0.5);
}

std::string selection_text(const TimelineState& state, std::size_t ranks) {
  if (!state.selection) return "";
  std::string text = length_text(state.selection->length_ns());
  if (state.selected_ranks > 0) ranks = state.selected_ranks;
  if (ranks > 1) text += " on " + std::to_string(ranks) + " ranks";
  return text + " selected";
}

void InspectToolbar::draw_search(const Theme& theme, Rect& rest, const InspectView& view,
                                 TimelineState& state, Commands& commands) {
  const float width =
      std::clamp(rest.w * 0.24f, theme.px(kLeastSearchWidth), theme.px(kSearchWidth));
  const std::int64_t from = search_origin(state);
  search_.draw(theme, control(theme, rest.take_left(width, theme.px(6))), view, from, commands);
  const bool hits = view.hits && view.hits->count > 0;
  const float side = theme.px(24);
  const Rect back = control(theme, rest.take_left(side));
  const Rect on = control(theme, rest.take_left(side, theme.px(kToolbarGap)));
  if (icon_button(theme, "inspect/hit before", back, Shape::kLeft, hits)) {
    commands.push_back(GoToHit{-1, from});
  }
  if (icon_button(theme, "inspect/hit behind", on, Shape::kRight, hits)) {
    commands.push_back(GoToHit{1, from});
  }
  explain(theme, back, "Previous hit", "Goes to the hit before the picked event", "Shift+Enter");
  explain(theme, on, "Next hit", "Goes to the hit behind the picked event", "Enter");
}

void InspectToolbar::draw_modes(const Theme& theme, Rect& rest, const InspectView& view,
                                const StepIndex& steps, TimelineState& state) {
  int mode = static_cast<int>(state.mode);
  const float modes = segments_width(theme, kModes);
  if (modes <= rest.w) {
    draw_segments(theme, "inspect/mode",
                  control(theme, rest.take_left(modes, theme.px(kToolbarGap))), kModes, mode);
    state.mode = static_cast<Mode>(mode);
  }
  if (state.mode == Mode::kSteps) return choose_rank(theme, rest, *view.rows, steps, state);
  int alignment = state.aligned_by_step ? 1 : 0;
  const std::string clocks = "Ranks lie as their clocks say. " + clocks_text(view.rows->ranks);
  const std::array<Segment, 2> choices{
      Segment{"By clock", clocks},
      Segment{"By step",
              "Ranks are moved so that the step in the middle begins on all of them at once"}};
  const float alignments = segments_width(theme, choices);
  if (view.rows->ranks.size() < 2 || alignments > rest.w) return;
  draw_segments(theme, "inspect/align",
                control(theme, rest.take_left(alignments, theme.px(kToolbarGap + 4))), choices,
                alignment);
  state.aligned_by_step = alignment == 1;
}

void InspectToolbar::draw(const Theme& theme, const Rect& rect, const InspectView& view,
                          const StepIndex& steps, TimelineState& state, Commands& commands) {
  const Palette& p = theme.colors();
  fill(rect, color(p.panel), theme.px(6));
  outline(rect, color(p.panel_edge), theme.px(6));
  if (!view.rows) return;
  Rect rest = rect.inset(theme.px(8), 0);
  draw_search(theme, rest, view, state, commands);
  draw_modes(theme, rest, view, steps, state);
  const std::string summary = selection_text(state, view.rows->ranks.size());
  const std::string keys = "M measure · F fit · B bookmark";
  const float summary_width = std::ceil(text_width(theme, Face::kSmall, summary));
  if (!summary.empty() && summary_width <= rest.w) {
    text_in(theme, rest.take_right(summary_width, theme.px(kToolbarGap)), Face::kSmall,
            p.accent_text, summary, Align::kRight);
  }
  bookmarks_.draw(theme, rest, *view.rows, view.bookmarks, state, commands);
  draw_kinds(theme, rest, *view.rows, state.mode, state.filter);
  if (summary.empty()) label_in(theme, rest, Face::kSmall, p.text_muted, keys, Align::kRight);
}

}  // namespace shardlens::ui
