#include "ui/inspect/draw/minimap.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "trace/base/number_text.h"
#include "ui/inspect/draw/timeline_row_draw.h"
#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"
#include "ui/present/timeline/timeline_time_text.h"

namespace shardlens::ui::inspect {

namespace {

constexpr float kMinimapLabels = 150, kGripReach = 6;

state::Rect frame_of(const state::Rect& strip, const TimeWindow& whole, const TimeWindow& window) {
  const auto x = [&](double position) {
    return strip.x +
           static_cast<float>(std::clamp(position, 0.0, 1.0) * static_cast<double>(strip.w));
  };
  const float x0 = x(whole.position(window.start_ns()));
  const float x1 = x(whole.position(window.end_ns()));
  // A frame of less than a few pixels could neither be seen nor taken hold of.
  const float width = std::max(x1 - x0, 5.0f);
  return {std::min(std::round((x0 + x1 - width) / 2), strip.right() - width), strip.y - 3, width,
          strip.h + 6};
}

// One that only just begins at the side is not shown.
std::string steps_shown(const StepIndex& steps, const TimeWindow& window) {
  const auto shown =
      steps.within(steps.reference_rank(), window.time_at(0.01), window.time_at(0.99)).size();
  if (shown == 0)
    return present::length_text(static_cast<std::int64_t>(window.span_ns())) + " shown";
  return trace::base::counted(shown, "step") + " shown";
}

// What the run's own events say against each other, and what is missing of it, is told.
void draw_trouble(const kit::Theme& theme, state::Rect box,
                  const trace::timeline::TimelineRows& rows) {
  const bool incomplete = !rows.incomplete.empty();
  if (!incomplete && rows.reversed_events == 0 && rows.overlapping_events == 0) return;
  const state::Palette& p = theme.colors();
  const state::Rgb ink = incomplete ? p.danger : p.text_muted;
  const state::Rect mark = box.take_left(theme.px(11), theme.px(4));
  kit::shape(kit::Shape::kWarning, mark, theme.px(10), kit::color(ink));
  kit::label_in(theme, box, kit::Face::kSmall, ink, incomplete ? "incomplete" : "odd times");
}

void draw_names(const kit::Theme& theme, state::Rect box, const state::InspectView& view,
                const StepIndex& steps, std::int64_t known_until_ns) {
  const state::Palette& p = theme.colors();
  const std::size_t count = steps.count_begun(known_until_ns);
  const std::int64_t end_ns = std::clamp(known_until_ns, view.rows->start_ns, view.rows->end_ns);
  const std::int64_t length = end_ns - view.rows->start_ns;
  const float line_height = std::min(theme.px(18), box.h / 2);
  box = box.inset(0, std::round((box.h - 2 * line_height) / 2));
  state::Rect title = box.take_top(line_height);
  kit::take_text(theme, title, theme.px(8), kit::Face::kStrong, p.text_secondary, "Whole run");
  draw_trouble(theme, title, *view.rows);
  std::string note = present::length_text(length);
  const bool reading = view.progress < 1;
  if (count > 0) note = trace::base::counted(count, "step") + " · " + note;
  if (reading)
    note = "reading… " + present::format_percent(std::clamp(view.progress, 0.0, 1.0)).text();
  kit::text_in(theme, box, kit::Face::kSmall, reading ? p.accent_text : p.text_muted, note);
}

void explain_run(const kit::Theme& theme, const state::Rect& box, const state::InspectView& view) {
  const trace::timeline::TimelineRows& rows = *view.rows;
  std::string body = present::format_integer(rows.events) + " events on " +
                     std::to_string(rows.ranks.size()) +
                     (rows.ranks.size() == 1 ? " rank" : " ranks");
  if (view.progress < 1) {
    body += "\nThe rest is being read in the background; what is there can be looked at";
  }
  if (!rows.incomplete.empty()) body += "\nIncomplete: " + rows.incomplete;
  if (rows.reversed_events > 0) {
    body += "\n" + present::format_integer(rows.reversed_events) +
            " ended before they began: drawn from the earlier time";
  }
  if (rows.overlapping_events > 0) {
    body += "\n" + present::format_integer(rows.overlapping_events) +
            " began in another one of their lane: drawn half as high before it";
  }
  kit::explain(theme, box, "Whole run", body, view.run_folder);
}

void explain_column(const kit::Theme& theme, const state::InspectView& view, const StepIndex& steps,
                    std::int64_t time_ns, bool has_frame) {
  const state::Palette& p = theme.colors();
  const kit::TooltipScope tip(theme);
  const trace::timeline::StepBorder* step = steps.at(steps.reference_rank(), time_ns);
  tip.title(step != nullptr
                ? "Step " + present::format_integer(step->step)
                : present::length_text(time_ns - view.rows->start_ns) + " after the start");
  if (step != nullptr) tip.row("Length", present::length_text(step->length_ns()));
  if (!view.overview || view.overview->rows.empty()) return;
  for (const trace::timeline::RibbonColumn& column : view.overview->rows.front().columns) {
    if (time_ns < column.start_ns || time_ns >= column.end_ns) continue;
    const float exposed = column.share[trace::base::index_of(trace::base::TimeClass::kExposed)];
    tip.row(&p.exposed, "Exposed", present::format_percent(static_cast<double>(exposed)).text());
    break;
  }
  tip.note(has_frame ? "Click shows this part; drag the frame or its sides"
                     : "Click shows this part by the clock");
}

// For the step at that time and one on each side: of the whole run nothing is left to go to.
void leave_whole_run(TimeWindow& window, const StepIndex& steps, std::int64_t time_ns) {
  const auto* step = steps.nearest(steps.reference_rank(), time_ns);
  if (!window.is_fitted() || step == nullptr) return;
  window.show(step->start_ns, step->end_ns);
  window.zoom(0.5, 1.0 / 3);
}

// Which part of the run is on screen.
void draw_frame(const kit::Theme& theme, const state::Rect& strip, const StepIndex& steps,
                const TimeWindow& whole, const TimeWindow& window) {
  const state::Palette& p = theme.colors();
  const state::Rect frame = frame_of(strip, whole, window);
  const float dim_left = frame.x - strip.x, dim_right = strip.right() - frame.right();
  kit::fill({strip.x, strip.y, dim_left, strip.h}, kit::color(p.panel, 0.45f));
  kit::fill({frame.right(), strip.y, dim_right, strip.h}, kit::color(p.panel, 0.45f));
  const bool all = window.is_fitted();
  kit::outline(frame, kit::color(all ? p.idle_edge : p.text), theme.px(3),
               all ? 1.0f : std::max(1.0f, theme.px(1.5f)));

  const std::string note = steps_shown(steps, window);
  const float width = kit::text_width(theme, kit::Face::kSmall, note) + theme.px(12),
              height = theme.px(17);
  float x = frame.right() + theme.px(6);
  if (x + width > strip.right()) x = frame.x - theme.px(6) - width;
  if (x >= strip.x) {
    const state::Rect box{x, strip.y + theme.px(2), width, height};
    kit::fill(box, kit::color(p.panel, 0.85f), theme.px(3));
    kit::text_in(theme, box, kit::Face::kSmall, p.text_secondary, note, kit::Align::kCenter);
  }
}

}  // namespace

void Minimap::draw_overview(const kit::Theme& theme, const state::Rect& strip,
                            const state::InspectView& view, const StepIndex& steps,
                            const TimeWindow& whole) {
  if (view.overview != std::exchange(overview_, view.overview)) means_ = {};
  if (!view.overview || view.overview->rows.empty()) {
    kit::fill(strip, kit::color(theme.colors().field), theme.px(2));
    return;
  }
  RowCanvas canvas{theme, whole, strip};
  canvas.means = &means_;
  RowPlace place;
  place.area = strip;
  place.row = 0;
  place.level_height = strip.h;
  place.smooth_ns = ribbon_smoothing(whole, strip.w, steps.lengths().mean_ns, theme.px(36));
  place.quiet = 0.5f;
  draw_row(canvas, place, view.overview->rows.front(), view.overview->names);
}

void Minimap::use_mouse(const kit::Theme& theme, const state::Rect& strip, const StepIndex& steps,
                        const TimeWindow& whole, TimelineState& state) {
  TimeWindow& window = state.window;
  const kit::Hit hit = kit::mouse_area(theme, "inspect/minimap", strip.inset(-3, -4));
  const float mouse = ImGui::GetIO().MousePos.x;
  const double at =
      static_cast<double>(mouse - strip.x) / static_cast<double>(std::max(1.0f, strip.w));
  const state::Rect frame = frame_of(strip, whole, window);
  const float reach = theme.px(kGripReach);
  const bool has_frame = state.mode == TimelineState::Mode::kTime;
  const bool wide = has_frame && frame.w > 3 * reach;
  const bool at_start = wide && std::abs(mouse - frame.x) < reach;
  const bool at_end = wide && std::abs(mouse - frame.right()) < reach;
  if (hit.hovered && (at_start || at_end)) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  const double turned = hit.hovered ? static_cast<double>(ImGui::GetIO().MouseWheel) : 0;
  if (turned != 0) {
    // Steps one above the other lie nowhere in the run: they are zoomed around their middle.
    const double middle = whole.position(window.time_at(0.5));
    const bool is_near = has_frame && std::abs(at - middle) < 0.5;
    state.shown_window().zoom(is_near ? window.position(whole.time_at(at)) : 0.5,
                              std::pow(kit::kWheelZoom, turned));
  }
  if (hit.pressed) {
    state.mode = TimelineState::Mode::kTime;
    grip_ = at_start ? Grip::kStart : at_end ? Grip::kEnd : Grip::kWhole;
    const bool inside = has_frame && mouse >= frame.x - reach && mouse < frame.right() + reach;
    grabbed_ = inside ? at - whole.position(window.time_at(0.5)) : 0;
    if (!has_frame) leave_whole_run(window, steps, whole.time_at(at));
    if (!inside) window.center_on(whole.time_at(at));
  }
  if (!hit.held) {
    grip_ = Grip::kNone;
  } else if (ImGui::GetIO().MouseDelta.x != 0) {
    const std::int64_t time = whole.time_at(std::clamp(at, 0.0, 1.0));
    if (grip_ == Grip::kWhole) window.center_on(whole.time_at(at - grabbed_));
    if (grip_ == Grip::kStart) window.show(std::min(time, window.end_ns() - 1), window.end_ns());
    if (grip_ == Grip::kEnd) window.show(window.start_ns(), std::max(time, window.start_ns() + 1));
  }
}

void Minimap::draw(const kit::Theme& theme, const state::Rect& rect, const state::InspectView& view,
                   const StepIndex& steps, TimelineState& state) {
  const state::Palette& p = theme.colors();
  kit::panel_surface(theme, rect);
  if (!view.rows) return;
  state::Rect rest = rect.inset(theme.px(kit::kPanelPadding), theme.px(10));
  const float labels = std::min(theme.px(kMinimapLabels), rest.w * 0.3f);
  const state::Rect names = rest.take_left(labels, theme.px(8));
  draw_names(theme, names, view, steps, state.known_until_ns);
  explain_run(theme, names, view);
  const state::Rect strip = rest;
  TimeWindow whole;
  whole.set_extent(view.rows->start_ns, view.rows->end_ns);
  draw_overview(theme, strip, view, steps, whole);
  use_mouse(theme, strip, steps, whole, state);
  // A replay has not come so far.
  const double known = std::clamp(whole.position(state.known_until_ns), 0.0, 1.0);
  const float now = strip.x + static_cast<float>(known * static_cast<double>(strip.w));
  if (now < strip.right()) {
    kit::fill({now, strip.y, strip.right() - now, strip.h}, kit::color(p.panel), 0);
    kit::line(now, strip.y, now, strip.bottom(), kit::color(p.text));
  }

  const bool has_frame = state.mode == TimelineState::Mode::kTime;
  if (has_frame) draw_frame(theme, strip, steps, whole, state.window);
  if (kit::hovers(strip) && grip_ == Grip::kNone && ImGui::GetIO().MousePos.x < now) {
    const double at = static_cast<double>((ImGui::GetIO().MousePos.x - strip.x) / strip.w);
    explain_column(theme, view, steps, whole.time_at(at), has_frame);
  }
}

}  // namespace shardlens::ui::inspect
