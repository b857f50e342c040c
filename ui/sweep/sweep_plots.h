// A sweep's pictures: curve, heat map, ranking, step time against memory. Each explains the point
// under the mouse and returns the one that was clicked. Interface thread, inside a frame.
#pragma once

#include <cstddef>
#include <optional>

#include "ui/kit/theme.h"
#include "ui/present/sweep/heat_map.h"
#include "ui/present/sweep/pareto.h"
#include "ui/present/sweep/sweep_curve.h"

namespace shardlens::ui::sweep {

// Of curve and ranking, in lengths of scale 1.
inline constexpr float kLegendHeight = 22, kMeanDot = 8, kRunDot = 5;

struct PlotInput {
  const state::ShownSweep& sweep;
  std::optional<std::size_t> selected;  // a point
};

std::optional<std::size_t> draw_sweep_curve(const kit::Theme& theme, const state::Rect& rect,
                                            const PlotInput& input,
                                            const present::SweepCurve& curve);
// From the best down, as many as have room.
std::optional<std::size_t> draw_sweep_ranking(const kit::Theme& theme, const state::Rect& rect,
                                              const PlotInput& input,
                                              const present::SweepCurve& ranking);
std::optional<std::size_t> draw_heat_map(const kit::Theme& theme, const state::Rect& rect,
                                         const PlotInput& input, const present::HeatMap& map);
std::optional<std::size_t> draw_pareto(const kit::Theme& theme, const state::Rect& rect,
                                       const PlotInput& input, const present::ParetoChart& chart);

// Of a point, over the dots of its runs.
void draw_mean(const kit::Theme& theme, ImVec2 at, bool is_selected);
// What the marks of a curve or a ranking are.
void draw_curve_legend(const kit::Theme& theme, state::Rect row, const present::SweepCurve& curve);

// Its figures, in a tooltip.
void explain_point(const kit::Theme& theme, const state::ShownSweep& sweep, std::size_t point);

}  // namespace shardlens::ui::sweep
