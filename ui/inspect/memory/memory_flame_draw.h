// Draws the memory of a step: as stacked bands over time, and what it was used for at its peak.
// Interface thread, inside a frame.
#pragma once

#include <cstdint>

#include "trace/timeline/values/step_memory.h"
#include "ui/inspect/timeline/timeline_window.h"
#include "ui/kit/theme.h"

namespace shardlens::ui::inspect {

struct FlameCanvas {
  const kit::Theme& theme;
  const trace::timeline::StepMemory& memory;
  const TimeWindow& window;
  state::Rect plot, phases, axis;  // labels of sizes stand left of the plot
  double top_bytes = 1;            // of the plot

  float x(std::int64_t time_ns) const {
    return plot.x + static_cast<float>(window.position(time_ns)) * plot.w;
  }
  float y(double bytes) const {
    return plot.bottom() - static_cast<float>(bytes / top_bytes) * plot.h;
  }
  std::int64_t time_at(float at_x) const {
    return window.time_at(static_cast<double>((at_x - plot.x) / plot.w));
  }
  std::int64_t bytes_at(float at_y) const {
    return static_cast<std::int64_t>(static_cast<double>((plot.bottom() - at_y) / plot.h) *
                                     top_bytes);
  }
};

// Cuts `rect` into its parts. The top leaves a little room above the highest moment.
FlameCanvas flame_canvas(const kit::Theme& theme, state::Rect rect,
                         const trace::timeline::StepMemory& memory, const TimeWindow& window);

// `picked`: index of an allocation, -1 for none; outlined, as is the one at `hit`.
void draw_flame(const FlameCanvas& canvas, int picked, const trace::timeline::FlameHit& hit);

// A bar, and a legend with bytes and shares: "Parameters", … in the colours of the bands. Without
// the shares where there is room only for two columns.
void draw_peak_composition(const kit::Theme& theme, const state::Rect& rect,
                           const trace::timeline::StepMemory& memory);

}  // namespace shardlens::ui::inspect
