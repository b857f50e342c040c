#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "ui/kit/widgets.h"
#include "ui/tune/settings/knob_row.h"

namespace shardlens::ui::tune {

namespace {

using present::KnobChart;

constexpr float kHeight = 64, kScaleLine = 16, kSliderKnob = 12, kDot = 7;
constexpr float kBand = 0.16f, kTooLarge = 0.14f;

std::string setting_text(const present::KnobRow& row, const std::string& value) {
  const std::string unit(row.knob->unit);
  return value + (unit.empty() ? "" : " " + unit);
}

void draw_band(const kit::Theme& theme, const kit::Plot& plot, const KnobChart& chart) {
  const state::Palette& p = theme.colors();
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i + 1 < chart.points.size(); ++i) {
    const KnobChart::Point &a = chart.points[i], &b = chart.points[i + 1];
    const float x0 = plot.x(a.x), x1 = plot.x(b.x);
    list->AddQuadFilled({x0, plot.y(a.high)}, {x1, plot.y(b.high)}, {x1, plot.y(b.low)},
                        {x0, plot.y(a.low)}, kit::color(p.changed, kBand));
    if (!b.fits) {
      kit::fill({x0, plot.area.y, x1 - x0, plot.area.h}, kit::color(p.danger, kTooLarge));
    }
    kit::line(x0, plot.y(a.y), x1, plot.y(b.y), kit::color(p.changed), theme.px(1.5f));
  }
}

void draw_measured(const kit::Theme& theme, const kit::Plot& plot, const present::KnobRow& row,
                   const KnobChart& chart, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  int index = 0;
  for (const KnobChart::Measured& run : chart.measured) {
    const float x = plot.x(run.x), y = plot.y(run.y), size = theme.px(kDot);
    const state::Rect box{x - size, y - size, 2 * size, 2 * size};
    const std::string name =
        "measured/" + std::string(row.knob->name) + "/" + std::to_string(index++);
    const kit::Hit hit = kit::hit_area(theme, name, box);
    kit::shape(kit::Shape::kDot, x, y, size + theme.px(2), kit::color(p.panel));
    kit::shape(kit::Shape::kDot, x, y, size, kit::color(hit.hovered ? p.text : p.accent));
    if (hit.hovered) {
      kit::tooltip(theme, run.run + " measured " + run.step,
                   std::string(row.knob->label) + " " + setting_text(row, run.value),
                   "Click sets it");
    }
    if (hit.clicked) commands.push_back(state::SetKnob{std::string(row.knob->name), run.value});
  }
}

// "best 8" at the right of the scale, marked on the curve: one click goes there. Or
// why no value is called so. Takes its room from `line`.
void draw_best(const kit::Theme& theme, state::Rect& line, const kit::Plot& plot,
               const present::KnobRow& row, const KnobChart& chart, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  if (!chart.best) {
    const std::string why = chart.why_unsure.empty() ? chart.why_no_best : "how sure: not known";
    const float used =
        kit::label_in(theme, line, kit::Face::kSmall, p.text_muted, why, kit::Align::kRight);
    line.take_right(used, theme.px(8));
    return;
  }
  const KnobChart::Point& best = chart.points[*chart.best];
  const std::string label = "best " + best.value;
  const float width = kit::text_width(theme, kit::Face::kSmall, label) + theme.px(4);
  const state::Rect box = line.take_right(width, theme.px(8));
  const kit::Hit hit = kit::hit_area(theme, "best/" + std::string(row.knob->name), box);
  kit::shape(kit::Shape::kDown, plot.x(best.x), plot.y(best.y) - theme.px(4), theme.px(6),
             kit::color(hit.hovered ? p.text : p.changed));
  kit::text_in(theme, box, kit::Face::kSmall, hit.hovered ? p.text : p.changed, label,
               kit::Align::kCenter);
  if (hit.hovered) {
    kit::tooltip(theme, "Surely faster: " + best.step,
                 best.difference + " against " + chart.against, "Click sets it");
  }
  if (hit.clicked) commands.push_back(state::SetKnob{std::string(row.knob->name), best.value});
}

// What the plot's height stands for, above it: on the curve it would hide a part of that.
void draw_scale(const kit::Theme& theme, const state::Rect& line, const KnobChart& chart) {
  const state::Rgb ink = theme.colors().text_muted;
  if (kit::label_in(theme, line, kit::Face::kSmall, ink, "axis: " + chart.range) > 0) return;
  kit::text_in(theme, line, kit::Face::kSmall, ink, chart.range);
}

void explain_curve(const kit::Theme& theme, const kit::Plot& plot, const present::KnobRow& row,
                   const KnobChart& chart) {
  if (!kit::hovers(plot.area)) return;
  const float mouse = ImGui::GetIO().MousePos.x;
  const auto distance = [&](const auto& each) { return std::abs(plot.x(each.x) - mouse); };
  const auto nearest = std::ranges::min_element(chart.points, {}, distance);
  const auto other = std::ranges::min_element(chart.unpredicted, {}, distance);
  const bool is_other = other != chart.unpredicted.end() && distance(*other) < distance(*nearest);
  const float x = plot.x(is_other ? other->x : nearest->x);
  kit::line(x, plot.area.y, x, plot.area.bottom(), kit::color(theme.colors().idle_edge));
  const kit::TooltipScope scope(theme);
  if (is_other) {
    scope.title(std::string(row.knob->label) + " " + setting_text(row, other->value));
    return scope.note("Not predicted from the run on screen. " + other->why);
  }
  scope.title(std::string(row.knob->label) + " " + setting_text(row, nearest->value));
  scope.row("Predicted", nearest->step);
  scope.row("Against " + chart.against, nearest->difference);
  if (!nearest->fits) scope.note("Does not fit in memory");
  if (!chart.why_unsure.empty()) scope.note(chart.why_unsure);
  scope.note("From the run on screen, all other settings as they are; dots are measured runs");
  scope.note("The axis, bottom to top: " + chart.range);
}

}  // namespace

float knob_chart_height(const kit::Theme& theme) { return theme.px(kHeight); }

void draw_knob_chart(const kit::Theme& theme, const state::Rect& rect, const present::KnobRow& row,
                     const present::KnobChart& chart, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  state::Rect area = rect;
  state::Rect scale = area.take_top(theme.px(kScaleLine));
  kit::fill(area, kit::color(p.field), theme.px(3));
  if (chart.points.empty()) {
    return void(kit::note_in(theme, area, "Predicting…", kit::Align::kCenter));
  }
  const kit::Plot plot{area.inset(theme.px(kSliderKnob / 2), theme.px(2))};
  const float now =
      plot.x(present::slider_position(*row.knob, std::strtod(row.value.c_str(), nullptr)));
  kit::line(now, area.y, now, area.bottom(), kit::color(row.changed ? p.changed : p.accent));
  draw_band(theme, plot, chart);
  explain_curve(theme, plot, row, chart);
  draw_measured(theme, plot, row, chart, commands);
  draw_best(theme, scale, plot, row, chart, commands);
  draw_scale(theme, scale, chart);
}

}  // namespace shardlens::ui::tune
