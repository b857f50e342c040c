// Where ranks and their rows lie in the timeline, and which bars a row needs to draw at a zoom.
// Free of ImGui.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "trace/analysis/step_timeline.h"
#include "ui/timeline_view.h"

namespace shardlens::ui {

// Heights of scale 1; stretched where there is room.
struct RowHeights {
  float phases = 18, compute = 18, communication = 20, buckets = 26, ribbon = 12, gap = 4,
        rank_gap = 12, folded = 22;

  // Between the lanes of several process groups.
  float lane_gap = 2;

  float communication_lanes(std::size_t lanes) const {
    const auto more = static_cast<float>(lanes > 1 ? lanes - 1 : 0);
    return communication + more * (communication + lane_gap);
  }
  float unfolded(std::size_t lanes = 1) const {
    return phases + compute + communication_lanes(lanes) + buckets + ribbon + 4 * gap + rank_gap;
  }
  RowHeights stretched(float factor) const;
};

struct RankRows {
  int rank = 0;
  bool unfolded = true;
  float y = 0, height = 0;  // from the first rank's top, in pixels, with the gap below
  // Tops of the rows, only where unfolded; a folded rank has the ribbon alone.
  float phases = 0, compute = 0, communication = 0, buckets = 0, ribbon = 0;
};

struct TimelineRows {
  RowHeights heights;
  std::vector<RankRows> ranks;
  float height = 0;
};

// As many ranks from the top as fit are unfolded; `wishes` (rank → unfolded) come before that.
TimelineRows timeline_rows(const std::vector<trace::RankTimeline>& ranks, float available,
                           float scale, const std::map<int, bool>& wishes);

// A bar in pixels. Bars that are too thin to be told apart are drawn as groups of a few pixels.
struct PixelBar {
  float x0 = 0, x1 = 0;
  trace::BarClass bar_class = trace::BarClass::kCompute;
  std::size_t index = 0;  // of the first bar
  int count = 1;
};
std::vector<PixelBar> pixel_bars(const std::vector<trace::Bar>& bars, const TimelineView& view,
                                 float left, float width);

}  // namespace shardlens::ui
