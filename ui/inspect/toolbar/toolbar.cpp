#include "ui/inspect/toolbar/toolbar.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "trace/timeline/words/row_catalogue.h"
#include "ui/inspect/timeline/item_facts.h"
#include "ui/kit/panel.h"
#include "ui/kit/toolbar_controls.h"
#include "ui/kit/widgets.h"
#include "ui/present/timeline/timeline_time_text.h"

namespace shardlens::ui::inspect {

namespace {

using trace::timeline::RowKind;
using Mode = TimelineState::Mode;

constexpr float kControlHeight = 26, kToolbarGap = 12;
constexpr float kSearchWidth = 276, kLeastSearchWidth = 150;

constexpr std::array<kit::Segment, 2> kModes{
    kit::Segment{"Time", "All ranks over the whole run, by the clock"},
    kit::Segment{"Steps aligned", "One rank's steps one above the other, aligned at their starts"}};

state::Rect control(const kit::Theme& theme, const state::Rect& box) {
  const float height = std::min(theme.px(kControlHeight), box.h);
  return {box.x, std::round(box.center_y() - height / 2), box.w, height};
}

// Kinds of rows that the run has, in the order of the timeline; a ribbon is always shown.
std::vector<RowKind> kinds_of(const trace::timeline::TimelineRows& rows, Mode mode) {
  std::vector<RowKind> kinds;
  if (mode == Mode::kSteps) return {RowKind::kKernels, RowKind::kCommunication};
  for (const RowKind kind : {RowKind::kKernels, RowKind::kOperators, RowKind::kCommunication,
                             RowKind::kMemory, RowKind::kPhases, RowKind::kLaunches,
                             RowKind::kCopies, RowKind::kReady, RowKind::kGpu, RowKind::kCounter}) {
    if (rows.has(kind)) kinds.push_back(kind);
  }
  return kinds;
}

void tick_kind(const kit::Theme& theme, const state::Rect& box, RowKind kind, RowFilter& filter) {
  bool shown = filter.shows(kind);
  const std::string_view name = trace::timeline::kind_name(kind);
  if (kit::draw_tick(theme, "inspect/kind " + std::string(name), box, name, shown)) {
    filter.set(kind, shown);
  }
}

// Where not all fit, the others are in a menu.
void draw_kinds(const kit::Theme& theme, state::Rect& rest,
                const trace::timeline::TimelineRows& rows, Mode mode, RowFilter& filter) {
  const auto kinds = kinds_of(rows, mode);
  const float menu = kit::menu_button_width(theme, "Rows");
  std::size_t fitting = 0;
  float used = 0;
  for (const RowKind kind : kinds) {
    used += kit::tick_width(theme, trace::timeline::kind_name(kind)) + theme.px(14);
    const bool last = fitting + 1 == kinds.size();
    if (used + (last ? 0 : menu) > rest.w) break;
    ++fitting;
  }
  if (fitting < kinds.size() && fitting < 2) fitting = 0;
  for (std::size_t i = 0; i < fitting; ++i) {
    const state::Rect box =
        rest.take_left(kit::tick_width(theme, trace::timeline::kind_name(kinds[i])), theme.px(14));
    tick_kind(theme, control(theme, box), kinds[i], filter);
  }
  if (fitting == kinds.size() || menu > rest.w) return;
  const state::Rect button = control(theme, rest.take_left(menu, theme.px(kToolbarGap)));
  if (kit::draw_menu_button(theme, "inspect/rows", button, "Rows",
                            "Which kinds of rows are shown")) {
    ImGui::OpenPopup("##rows");
  }
  const float row = theme.px(26);
  const kit::MenuScope scope(theme, "##rows", button, theme.px(190),
                             row * static_cast<float>(kinds.size()) + theme.px(12));
  if (!scope.is_open()) return;
  state::Rect area = scope.area;
  for (const RowKind kind : kinds)
    tick_kind(theme, area.take_top(row).inset(theme.px(4), 0), kind, filter);
}

void choose_rank(const kit::Theme& theme, state::Rect& rest,
                 const trace::timeline::TimelineRows& rows, const StepIndex& steps,
                 TimelineState& state) {
  const int shown = state.step_rank < 0 ? steps.reference_rank() : state.step_rank;
  const std::string label = "Rank " + std::to_string(shown);
  const float arrow = theme.px(22), width = kit::text_width(theme, kit::Face::kMedium, label);
  const float needed = 2 * arrow + width + theme.px(8);
  if (needed > rest.w || rows.ranks.size() < 2) return;
  state::Rect box = control(theme, rest.take_left(needed, theme.px(kToolbarGap)));
  const auto move = [&](int by) {
    const auto at = std::ranges::find(rows.ranks, shown, &trace::timeline::TimelineRank::rank);
    const auto index = (at - rows.ranks.begin()) + by;
    if (index >= 0 && index < std::ssize(rows.ranks)) {
      state.step_rank = rows.ranks[static_cast<std::size_t>(index)].rank;
    }
  };
  if (kit::icon_button(theme, "inspect/rank before", box.take_left(arrow), kit::Shape::kLeft))
    move(-1);
  if (kit::icon_button(theme, "inspect/rank behind", box.take_right(arrow), kit::Shape::kRight))
    move(1);
  kit::text_in(theme, box, kit::Face::kMedium, theme.colors().text, label, kit::Align::kCenter);
}

}  // namespace

std::int64_t search_origin(const TimelineState& state) {
  return state.picked ? state.picked->place.start_ns : state.window.time_at(0.5);
}

std::string selection_text(const TimelineState& state, std::size_t ranks) {
  if (!state.selection) return "";
  std::string text = present::length_text(state.selection->length());
  if (ranks > 1) text += " on " + std::to_string(ranks) + " ranks";
  return text + " selected";
}

void InspectToolbar::draw_search(const kit::Theme& theme, state::Rect& rest,
                                 const state::InspectView& view, TimelineState& state,
                                 state::Commands& commands) {
  const float width =
      std::clamp(rest.w * 0.24f, theme.px(kLeastSearchWidth), theme.px(kSearchWidth));
  const std::int64_t from = search_origin(state);
  search_.draw(theme, control(theme, rest.take_left(width, theme.px(6))), view, from, commands);
  const bool hits = view.hits && view.hits->count > 0;
  const float side = theme.px(24);
  const state::Rect back = control(theme, rest.take_left(side));
  const state::Rect on = control(theme, rest.take_left(side, theme.px(kToolbarGap)));
  if (kit::icon_button(theme, "inspect/hit before", back, kit::Shape::kLeft, hits)) {
    commands.push_back(state::GoToHit{-1, from});
  }
  if (kit::icon_button(theme, "inspect/hit behind", on, kit::Shape::kRight, hits)) {
    commands.push_back(state::GoToHit{1, from});
  }
  kit::explain(theme, back, "Previous hit", "Goes to the hit before the picked event",
               "Shift+Enter");
  kit::explain(theme, on, "Next hit", "Goes to the hit behind the picked event", "Enter");
}

void InspectToolbar::draw_modes(const kit::Theme& theme, state::Rect& rest,
                                const state::InspectView& view, const StepIndex& steps,
                                TimelineState& state) {
  if (steps.reference_rank() < 0) return;  // nothing to align
  int mode = static_cast<int>(state.mode);
  const float modes = kit::segments_width(theme, kModes);
  if (modes <= rest.w) {
    kit::draw_segments(theme, "inspect/mode",
                       control(theme, rest.take_left(modes, theme.px(kToolbarGap))), kModes, mode);
    state.mode = static_cast<Mode>(mode);
  }
  if (state.mode == Mode::kSteps) return choose_rank(theme, rest, *view.rows, steps, state);
  int alignment = state.aligned_by_step ? 1 : 0;
  const std::string clocks = "Ranks lie as their clocks say. " + clocks_text(view.rows->ranks);
  const std::array<kit::Segment, 2> choices{
      kit::Segment{"By clock", clocks},
      kit::Segment{"By step",
                   "Ranks are moved so that the step in the middle begins on all of them at once"}};
  const float alignments = kit::segments_width(theme, choices);
  if (view.rows->ranks.size() < 2 || alignments > rest.w) return;
  kit::draw_segments(theme, "inspect/align",
                     control(theme, rest.take_left(alignments, theme.px(kToolbarGap + 4))), choices,
                     alignment);
  state.aligned_by_step = alignment == 1;
}

void InspectToolbar::draw(const kit::Theme& theme, const state::Rect& rect,
                          const state::InspectView& view, const StepIndex& steps,
                          TimelineState& state, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  kit::panel_surface(theme, rect);
  if (!view.rows) return;
  state::Rect rest = rect.inset(theme.px(8), 0);
  draw_search(theme, rest, view, state, commands);
  draw_modes(theme, rest, view, steps, state);
  const std::string summary = selection_text(state, view.rows->ranks.size());
  const std::string keys = "M measure · F fit · B bookmark";
  const float summary_width = std::ceil(kit::text_width(theme, kit::Face::kSmall, summary));
  if (!summary.empty() && summary_width <= rest.w) {
    kit::text_in(theme, rest.take_right(summary_width, theme.px(kToolbarGap)), kit::Face::kSmall,
                 p.accent_text, summary, kit::Align::kRight);
  }
  bookmarks_.draw(theme, rest, *view.rows, view.bookmarks, state, commands);
  draw_kinds(theme, rest, *view.rows, state.mode, state.filter);
  if (summary.empty())
    kit::label_in(theme, rest, kit::Face::kSmall, p.text_muted, keys, kit::Align::kRight);
}

}  // namespace shardlens::ui::inspect
