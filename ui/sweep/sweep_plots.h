// A sweep's pictures: curve, heat map, ranking, step time against memory. Each explains the point
// under the mouse and returns the one that was clicked. Interface thread, inside a frame.
#pragma once

#include <cstddef>
#include <optional>

#include "ui/kit/theme.h"
#include "ui/present/sweep/sweep_charts.h"

namespace shardlens::ui::sweep {

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

// The figures of a point, in a tooltip.
void explain_point(const kit::Theme& theme, const state::ShownSweep& sweep, std::size_t point);

}  // namespace shardlens::ui::sweep
