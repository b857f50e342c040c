#include <algorithm>
#include <cmath>

#include "ui/inspect/draw/timeline_parts.h"
#include "ui/kit/paint.h"
#include "ui/kit/timeline_quads.h"
#include "ui/present/axis.h"
#include "ui/present/format.h"
#include "ui/present/timeline/timeline_time_text.h"

namespace shardlens::ui::inspect {

namespace {

using trace::timeline::StepBorder;

constexpr std::size_t kFewSteps = 8;     // in sight: times count from the first of them
constexpr float kTickRoom = 88;          // for one label of the axis, at scale 1
constexpr float kLeastBorderGap = 6;     // between borders that are drawn, at scale 1
constexpr float kLeastStepHead = 26;     // a step's box with a number in it, at scale 1
constexpr std::size_t kMostHeads = 600;  // steps that get a box or a line at all

std::span<const StepBorder> steps_in_sight(const TimelineScene& scene, int rank,
                                           std::int64_t shift_ns = 0) {
  const auto& window = scene.canvas.window;
  return scene.borders.within(rank, window.start_ns() + shift_ns, window.end_ns() + shift_ns);
}

float average_width(const TimelineScene& scene, std::size_t count) {
  return scene.plot().w / static_cast<float>(std::max<std::size_t>(count, 1));
}

std::string head_name(const StepBorder& step) {
  return "step " + present::format_integer(step.step);
}

state::Rect head_box(const TimelineScene& scene, const StepBorder& step) {
  const std::int64_t end_ns = std::min(step.end_ns, scene.known_until_ns);
  const float x0 = std::max(std::floor(scene.canvas.x(step.start_ns)), scene.steps.x);
  const float x1 = std::min(std::floor(scene.canvas.x(end_ns)), scene.steps.right());
  return {x0, scene.steps.y, x1 - x0 - 1, scene.steps.h};
}

// Those at the sides may be cut: they tell nothing of the others.
bool have_room_for_names(const TimelineScene& scene, std::span<const StepBorder> steps) {
  const auto& window = scene.canvas.window;
  return std::ranges::all_of(steps, [&](const StepBorder& step) {
    const bool is_cut = step.start_ns < window.start_ns() || step.end_ns > window.end_ns();
    return is_cut || kit::text_width(scene.theme(), kit::Face::kSmall, head_name(step)) <=
                         head_box(scene, step).inset(scene.theme().px(6), 0).w;
  });
}

void draw_step_head(const TimelineScene& scene, const StepBorder& step, bool named, bool hovered) {
  const state::Rect box = head_box(scene, step);
  const kit::Theme& theme = scene.theme();
  const state::Palette& p = theme.colors();
  kit::fill(box, kit::color(hovered ? p.hover : p.field), theme.px(2));
  state::Rect inner = box.inset(theme.px(6), 0);
  const std::string name = head_name(step);
  const float width = kit::text_width(theme, kit::Face::kSmall, name);
  if (!named || width > inner.w) {
    kit::label_in(theme, box.inset(theme.px(2), 0), kit::Face::kSmall, p.text_secondary,
                  present::format_integer(step.step), kit::Align::kCenter);
    return;
  }
  kit::take_text(theme, inner, theme.px(8), kit::Face::kSmall, p.text_secondary, name);
  if (step.end_ns > scene.known_until_ns) return;
  kit::label_in(theme, inner, kit::Face::kMonoSmall, p.text_muted,
                present::length_text(step.length_ns()));
}

// Left of heads that are bare numbers.
void name_numbers(const TimelineScene& scene) {
  const state::Rect box{scene.labels.x, scene.steps.y, scene.labels.w - scene.theme().px(10),
                        scene.steps.h};
  kit::label_in(scene.theme(), box, kit::Face::kSmall, scene.theme().colors().text_muted, "step",
                kit::Align::kRight);
}

// Where steps are narrower than their numbers: every so many of them.
void draw_step_scale(const TimelineScene& scene, std::span<const StepBorder> steps) {
  const kit::Theme& theme = scene.theme();
  const state::Palette& p = theme.colors();
  const float each = average_width(scene, steps.size());
  const double room = static_cast<double>(theme.px(64) / each);
  const auto stride = static_cast<std::int64_t>(std::max(1.0, present::nice_step(room, 1)));
  std::size_t i = 0;
  while (i < steps.size() && steps[i].step % stride != 0) ++i;
  kit::fill(scene.steps, kit::color(p.field), theme.px(2));
  float free_from = scene.steps.x;
  for (; i < steps.size(); i += static_cast<std::size_t>(stride)) {
    if (steps[i].start_ns >= scene.known_until_ns) break;
    const float x = std::round(scene.canvas.x(steps[i].start_ns));
    if (x < scene.steps.x || x >= scene.steps.right()) continue;
    kit::line(x, scene.steps.y, x, scene.steps.bottom(), kit::color(p.idle_edge));
    const std::string label = "step " + present::format_integer(steps[i].step);
    const float width = kit::text_width(theme, kit::Face::kSmall, label);
    if (x < free_from || x + theme.px(4) + width > scene.steps.right()) continue;
    kit::note_in(theme, {x + theme.px(4), scene.steps.y, width + 1, scene.steps.h}, label);
    free_from = x + theme.px(12) + width;
  }
}

// As much of it as there is room for.
void name_origin(const TimelineScene& scene, const std::string& origin, const std::string& base) {
  const kit::Theme& theme = scene.theme();
  const state::Rect box{scene.labels.x, scene.axis.y, scene.labels.w - theme.px(10), scene.axis.h};
  const std::string more = base.empty() ? "" : " + " + base;
  const std::string shorter = origin.starts_with("from ") ? origin.substr(5) : origin;
  for (const std::string& name :
       {"from " + shorter + more, shorter + more, base.empty() ? "" : "+ " + base}) {
    if (kit::label_in(theme, box, kit::Face::kSmall, theme.colors().text_muted, name,
                      kit::Align::kRight) > 0)
      return;
  }
}

}  // namespace

const StepBorder* draw_step_heads(const TimelineScene& scene) {
  const auto steps = steps_in_sight(scene, scene.borders.reference_rank());
  if (steps.empty()) return nullptr;
  const bool wide = average_width(scene, steps.size()) >= scene.theme().px(kLeastStepHead);
  if (!wide || steps.size() > kMostHeads) draw_step_scale(scene, steps);
  const StepBorder* hovered = nullptr;
  const RowCanvas& c = scene.canvas;
  const bool over = c.mouse_inside && scene.steps.contains(c.mouse_x, c.mouse_y);
  if (over) {
    hovered = scene.borders.at(scene.borders.reference_rank(), scene.view_time_at(c.mouse_x));
  }
  if (!wide || steps.size() > kMostHeads) return hovered;
  const auto begun = begun_before(steps, scene.known_until_ns);
  const bool named = have_room_for_names(scene, begun);
  if (!named) name_numbers(scene);
  for (const StepBorder& step : begun) draw_step_head(scene, step, named, &step == hovered);
  return hovered;
}

AxisOrigin axis_origin(const TimelineScene& scene, bool from_run) {
  const auto steps = steps_in_sight(scene, scene.borders.reference_rank());
  if (from_run || steps.empty() || steps.size() > kFewSteps) {
    return {scene.rows.start_ns, "from the start"};
  }
  return {steps.front().start_ns, "from step " + present::format_integer(steps.front().step)};
}

void draw_axis(const TimelineScene& scene, const AxisOrigin& origin) {
  const kit::Theme& theme = scene.theme();
  const state::Palette& p = theme.colors();
  const RowCanvas& c = scene.canvas;
  const int most = std::max(2, static_cast<int>(scene.plot().w / theme.px(kTickRoom)));
  const present::AxisPlan plan =
      present::plan_axis(c.window.start_ns(), c.window.end_ns(), origin.time_ns, most);
  kit::QuadBatch grid;
  const state::Rect labels{scene.axis.x, scene.axis.y, scene.axis.w, scene.axis.h - theme.px(3)};
  float free_from = labels.x;
  for (const present::AxisTick& tick : plan.ticks) {
    const float x = std::round(c.x(tick.time_ns));
    if (x < scene.plot().x || x >= scene.plot().right()) continue;
    grid.add(x, scene.axis.bottom() - theme.px(3), x + 1, scene.plot().bottom(),
             kit::color(p.grid));
    kit::axis_label(theme, labels, x, tick.label, free_from);
  }
  name_origin(scene, origin.name, plan.base);
}

void draw_step_borders(const TimelineScene& scene) {
  const state::Rgb ink = scene.theme().colors().field_edge;
  const kit::Clip clip(scene.plot());
  kit::QuadBatch lines;
  for (std::size_t i = 0; i < scene.places.size();) {
    const RowPlace& first = scene.places[i];
    const int rank = scene.row(first.row).rank;
    const int shown = rank < 0 ? scene.borders.reference_rank() : rank;
    float bottom = first.area.bottom();
    while (i < scene.places.size() && scene.row(scene.places[i].row).rank == rank) {
      bottom = scene.places[i++].area.bottom();
    }
    const auto steps = steps_in_sight(scene, shown, first.shift_ns);
    if (average_width(scene, steps.size()) < scene.theme().px(kLeastBorderGap)) continue;
    for (const StepBorder& step : steps) {
      for (const std::int64_t at : {step.start_ns, step.end_ns}) {
        const float x = std::round(scene.canvas.x(at - first.shift_ns));
        if (x < scene.plot().x || x >= scene.plot().right()) continue;
        lines.add(x, first.area.y - 2, x + 1, bottom + 2, kit::color(ink));
      }
    }
  }
}

}  // namespace shardlens::ui::inspect
