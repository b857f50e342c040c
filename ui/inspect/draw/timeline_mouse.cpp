#include "ui/inspect/draw/timeline_mouse.h"

#include <algorithm>
#include <cmath>

#include "ui/kit/widgets.h"

namespace shardlens::ui::inspect {

namespace {

constexpr float kSnapReach = 7;  // at scale 1

std::int64_t shift_at(const TimelineScene& scene, float y, TimelineState::Mode mode) {
  if (mode == TimelineState::Mode::kTime) return 0;
  const RowPlace* place = scene.place_at(y);
  if (place != nullptr) return place->shift_ns;
  return scene.places.empty() ? 0 : scene.places.front().shift_ns;
}

// The border of an event on the row, or of a step, that is closest to `x`, within a few pixels;
// else the time under `x`. In the row's own time.
std::int64_t snapped_time(const TimelineScene& scene, const RowPlace& place, float x) {
  float best = scene.theme().px(kSnapReach);
  std::int64_t found = scene.view_time_at(x) + place.shift_ns;
  const auto offer = [&](std::int64_t time) {
    const float distance = std::abs(scene.canvas.x(time - place.shift_ns) - x);
    if (distance >= best || time > scene.known_until_ns) return;
    best = distance;
    found = time;
  };
  const trace::timeline::RowPicture* picture = scene.pictures.find(place.row, found);
  if (picture != nullptr) {
    for (const trace::timeline::Piece& piece : picture->pieces) {
      offer(piece.start_ns);
      offer(piece.end_ns);
    }
  }
  const int rank = scene.row(place.row).rank;
  const int shown = rank < 0 ? scene.borders.reference_rank() : rank;
  if (const trace::timeline::StepBorder* step = scene.borders.nearest(shown, found)) {
    offer(step->start_ns);
    offer(step->end_ns);
  }
  return found;
}

}  // namespace

void pick(const RowItem& item, TimelineState& state, state::Commands& commands) {
  PickedEvent picked;
  picked.place = {item.piece->ref, item.piece->start_ns, item.piece->end_ns, item.row};
  picked.name = item.name;
  state.picked = picked;
  state.selected_row = item.row;
  commands.push_back(state::PickEvent{item.piece->ref});
}

void turn_wheel(const state::Rect& plot, TimeWindow& window) {
  const ImGuiIO& io = ImGui::GetIO();
  if (io.MouseWheelH != 0) window.pan(static_cast<double>(-io.MouseWheelH) * 0.08);
  if (io.MouseWheel == 0) return;
  const double at = static_cast<double>(io.MousePos.x - plot.x) / static_cast<double>(plot.w);
  window.zoom(at, std::pow(kit::kWheelZoom, static_cast<double>(io.MouseWheel)));
}

void TimelineMouse::scroll_wheel(const TimelineScene& scene, TimelineState& state) const {
  const ImGuiIO& io = ImGui::GetIO();
  if (!hovers_ && !hovers_axis_) return;
  if (io.KeyShift && io.MouseWheel != 0) {
    state.shown_scroll() -= io.MouseWheel * scene.theme().px(48);
  } else {
    turn_wheel(scene.plot(), state.shown_window());
  }
}

std::int64_t TimelineMouse::measured_time(const TimelineScene& scene, float x,
                                          TimelineState::Mode mode) const {
  const RowPlace* place = scene.place_at(ImGui::GetIO().MousePos.y);
  // Between rows, as of the one in which it began.
  if (place == nullptr) return scene.view_time_at(x) + shift_ns_;
  const bool is_shown_moved = mode == TimelineState::Mode::kTime;
  return snapped_time(scene, *place, x) - (is_shown_moved ? place->shift_ns : 0);
}

void TimelineMouse::begin(const TimelineScene& scene, bool on_axis, TimelineState& state) {
  const ImGuiIO& io = ImGui::GetIO();
  moved_ = false;
  shift_ns_ = shift_at(scene, io.MousePos.y, state.mode);
  drag_ = Drag::kPress;
  if (state.measuring) {
    anchor_ns_ = measured_time(scene, io.MousePos.x, state.mode);
    state.measured = trace::base::Interval{anchor_ns_, anchor_ns_};
    drag_ = Drag::kMeasure;
  } else if ((on_axis || io.KeyShift) && state.mode != TimelineState::Mode::kOneStep) {
    anchor_ns_ = scene.view_time_at(io.MousePos.x) + shift_ns_;
    drag_ = Drag::kSelect;
  }
}

void TimelineMouse::drag(const TimelineScene& scene, TimelineState& state) {
  const ImGuiIO& io = ImGui::GetIO();
  const ImVec2 way = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0);
  if (!moved_ && std::abs(way.x) < kit::kDragBegins && std::abs(way.y) < kit::kDragBegins) return;
  if (drag_ == Drag::kPress) drag_ = Drag::kPan;
  const bool first = !moved_;
  moved_ = true;
  if (drag_ == Drag::kPan) {
    // The first one makes up for what the pointer did before it counted as a drag.
    const ImVec2 delta = first ? way : io.MouseDelta;
    state.shown_window().pan(-static_cast<double>(delta.x) / static_cast<double>(scene.plot().w));
    state.shown_scroll() -= delta.y;
    return;
  }
  const float x = std::clamp(io.MousePos.x, scene.plot().x, scene.plot().right());
  const std::int64_t at = drag_ == Drag::kMeasure ? measured_time(scene, x, state.mode)
                                                  : scene.view_time_at(x) + shift_ns_;
  const trace::base::Interval interval{std::min(anchor_ns_, at), std::max(anchor_ns_, at)};
  (drag_ == Drag::kMeasure ? state.measured : state.selection) = interval;
}

void TimelineMouse::release(TimelineState& state) {
  if (drag_ == Drag::kSelect && state.selection && state.selection->length() == 0) {
    state.selection.reset();
  }
  drag_ = Drag::kNone;
}

void TimelineMouse::move(const TimelineScene& scene, float content, TimelineState& state) {
  const kit::Hit plot = kit::mouse_area(scene.theme(), scene.name + "/plot", scene.plot());
  ImGui::SetItemAllowOverlap();  // what lies over it has a button, or reaches into it
  const state::Rect head{scene.steps.x, scene.steps.y, scene.steps.w,
                         scene.axis.bottom() - scene.steps.y};
  const kit::Hit axis = kit::hit_area(scene.theme(), scene.name + "/axis", head);
  hovers_ = plot.hovered;
  hovers_axis_ = axis.hovered;
  clicked_ = (plot.clicked || axis.clicked) && !moved_;
  double_clicked_ = clicked_ && (plot.double_clicked || axis.double_clicked);
  scroll_wheel(scene, state);
  if (plot.pressed || axis.pressed) begin(scene, axis.pressed, state);
  if (drag_ != Drag::kNone && (plot.held || axis.held)) drag(scene, state);
  const float lowest = std::max(0.0f, content - scene.plot().h);
  state.shown_scroll() = std::clamp(state.shown_scroll(), 0.0f, lowest);
}

void TimelineMouse::act(const TimelineScene& scene, const std::optional<RowItem>& hovered,
                        const trace::timeline::StepBorder* step, TimelineState& state,
                        state::Commands& commands) {
  if (drag_ != Drag::kNone && !ImGui::IsMouseDown(ImGuiMouseButton_Left)) release(state);
  if (state.mode == TimelineState::Mode::kOneStep) {
    if (double_clicked_) state.step_window.fit();
    if (clicked_ && hovers_ && !double_clicked_ && !state.measuring) state.pinned = hovered;
    return;
  }
  if (hovers_axis_ || drag_ == Drag::kSelect) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  if (double_clicked_) {
    TimeWindow& window = state.shown_window();
    if (step != nullptr && hovers_axis_) {
      window.show(step->start_ns, step->end_ns);
    } else if (hovered && hovered->piece) {
      window.show(hovered->piece->start_ns - hovered->shift_ns,
                  hovered->piece->end_ns - hovered->shift_ns, kAround);
    } else if (state.mode == TimelineState::Mode::kTime) {
      const std::int64_t at = scene.view_time_at(ImGui::GetIO().MousePos.x);
      const auto* under = scene.borders.at(scene.borders.reference_rank(), at);
      if (under != nullptr) window.show(under->start_ns, under->end_ns);
    }
    return;
  }
  if (!clicked_ || !hovers_ || state.measuring || ImGui::GetIO().KeyShift) return;
  if (hovered && hovered->piece && hovered->piece->ref.exists()) {
    return pick(*hovered, state, commands);
  }
  const RowPlace* row = scene.place_at(ImGui::GetIO().MousePos.y);
  if (row != nullptr) state.selected_row = row->row;
  if (state.picked) commands.push_back(state::DropEvent{});
  state.picked.reset();
}

}  // namespace shardlens::ui::inspect
