#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ui/kit/widgets.h"
#include "ui/sweep/sweep_plots.h"

namespace shardlens::ui::sweep {

namespace {

using present::ParetoChart;

constexpr float kTimes = 68, kMemory = 34, kTitle = 22, kDot = 8, kNear = 14, kInside = 12;

void draw_pareto_axes(const kit::Theme& theme, const kit::Plot& plot, const ParetoChart& chart) {
  const state::Palette& p = theme.colors();
  for (const auto& tick : chart.time_ticks) {
    kit::tick_left(theme, plot.area, plot.y(tick.at), tick.label);
  }
  kit::ticks_below(theme, plot, chart.memory_ticks, theme.px(kTimes), theme.px(kInside));
  kit::text_in(theme, {plot.area.x, plot.area.bottom() + theme.px(20), plot.area.w, theme.px(14)},
               kit::Face::kSmall, p.text_muted, "peak of tensors of a rank", kit::Align::kCenter);
}

// Above its point to the right, where the falling front never is, else where there is room beside
// it; left out where all of that is taken.
class LabelPlaces {
 public:
  LabelPlaces(const kit::Theme& theme, const state::Rect& within)
      : theme_(theme), within_(within) {}

  void keep_free(float x, float y) {
    const float half = theme_.px(kDot / 2 + 1);
    taken_.push_back({x - half, y - half, 2 * half, 2 * half});
  }
  void write(float x, float y, const std::string& label, state::Rgb ink) {
    const float width = kit::text_width(theme_, kit::Face::kMonoSmall, label);
    const float height = theme_.px(14), off = theme_.px(8);
    const state::Rect places[] = {{x + off * 0.75f, y - off * 0.75f - height, width, height},
                                  {x + off, y - height / 2, width, height},
                                  {x - off - width, y - height / 2, width, height},
                                  {x - width / 2, y - off - height, width, height},
                                  {x - width / 2, y + off, width, height}};
    for (const state::Rect& place : places) {
      const bool is_inside = place.x >= within_.x && place.right() <= within_.right() &&
                             place.y >= within_.y && place.bottom() <= within_.bottom();
      const bool is_free = std::ranges::none_of(
          taken_, [&](const state::Rect& other) { return other.overlaps(place); });
      if (!is_inside || !is_free) continue;
      taken_.push_back(place);
      // The front may lie under it.
      kit::fill(place.inset(-1, 0), kit::color(theme_.colors().panel, 0.85f));
      kit::text_in(theme_, {place.x, place.y, place.w + 1, place.h}, kit::Face::kMonoSmall, ink,
                   label);
      return;
    }
  }

 private:
  const kit::Theme& theme_;
  state::Rect within_;
  std::vector<state::Rect> taken_;
};

void draw_pareto_points(const kit::Theme& theme, const kit::Plot& plot, const PlotInput& input,
                        const ParetoChart& chart) {
  const state::Palette& p = theme.colors();
  for (std::size_t i = 1; i < chart.line.size(); ++i) {
    const auto &a = chart.points[chart.line[i - 1]], &b = chart.points[chart.line[i]];
    kit::line(plot.x(a.x), plot.y(a.y), plot.x(b.x), plot.y(b.y), kit::color(p.accent, 0.8f),
              theme.px(1.6f));
  }
  LabelPlaces labels(theme, plot.area.inset(-theme.px(kInside), 0));
  for (const auto& point : chart.points) labels.keep_free(plot.x(point.x), plot.y(point.y));
  for (const bool is_front : {true, false}) {
    for (const auto& point : chart.points) {
      if (point.is_on_front != is_front) continue;
      const float x = plot.x(point.x), y = plot.y(point.y);
      if (input.selected == point.point) {
        kit::shape(kit::Shape::kDot, x, y, theme.px(kDot + 4), kit::color(p.text));
      }
      kit::shape(kit::Shape::kDot, x, y, theme.px(kDot),
                 kit::color(is_front ? p.accent : p.text_muted));
      labels.write(x, y, point.label, is_front ? p.text : p.text_muted);
    }
  }
}

}  // namespace

std::optional<std::size_t> draw_pareto(const kit::Theme& theme, const state::Rect& rect,
                                       const PlotInput& input, const ParetoChart& chart) {
  const state::Palette& p = theme.colors();
  state::Rect rest = rect;
  const state::Rect title = rest.take_top(theme.px(kTitle));
  kit::text_in(theme, title, kit::Face::kSmall, p.text_secondary,
               chart.by_tokens
                   ? "Time per token against memory; coloured: none is better in both, beyond noise"
                   : "Step time against memory; coloured: none is better in both, beyond noise");
  rest.take_left(theme.px(kTimes));
  rest.take_bottom(theme.px(kMemory));
  rest.take_right(theme.px(kInside));
  const kit::Plot plot{rest};
  if (plot.area.empty()) return std::nullopt;
  draw_pareto_axes(theme, plot, chart);
  draw_pareto_points(theme, plot, input, chart);
  const kit::Hit hit = kit::mouse_area(theme, "sweep/pareto", rest);
  if (!hit.hovered) return std::nullopt;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const auto distance = [&](const ParetoChart::Point& point) {
    return std::hypot(plot.x(point.x) - mouse.x, plot.y(point.y) - mouse.y);
  };
  const auto nearest = std::ranges::min_element(chart.points, {}, distance);
  if (distance(*nearest) > theme.px(kNear)) return std::nullopt;
  explain_point(theme, input.sweep, nearest->point);
  return hit.clicked ? std::optional(nearest->point) : std::nullopt;
}

}  // namespace shardlens::ui::sweep
