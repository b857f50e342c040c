// Where ranks and their rows lie in the timeline, and which bars a row needs to draw at a zoom.
// Free of ImGui.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "trace/analysis/steps/step_timeline.h"
#include "ui/tune/timeline/timeline_view.h"

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
  std::size_t index = 0;  // into the ranks that were given
  bool unfolded = true;
  float y = 0, height = 0;  // from the first rank's top, in pixels, with the gap below
  // Tops of the rows, only where unfolded; a folded rank has the ribbon alone.
  float phases = 0, compute = 0, communication = 0, buckets = 0, ribbon = 0;
};

// Of more ranks than that the extremes are shown, so many of them, and the rest are one line.
inline constexpr std::size_t kMostRankRows = 24, kExtremeRankRows = 12;

struct TimelineRows {
  RowHeights heights;
  std::vector<RankRows> ranks;                 // from the top
  std::size_t rest = 0;                        // ranks that are folded into one line
  double rest_least_ns = 0, rest_most_ns = 0;  // of their compute
  float rest_y = 0, rest_height = 0;           // where it is; also where all are shown
  float height = 0;
};

struct RankWishes {
  std::map<int, bool> unfolded;  // by rank
  bool all = false;              // no rank is left out
};

// As many ranks from the top as fit are unfolded; wishes come before that. Of many ranks those come
// first that compute longest: the others wait for them.
TimelineRows timeline_rows(const std::vector<trace::RankTimeline>& ranks, float available,
                           float scale, const RankWishes& wishes);

// A bar in pixels. Bars that are too thin to be told apart are drawn as groups of a few pixels.
struct PixelBar {
  float x0 = 0, x1 = 0;
  trace::TimeClass bar_class = trace::TimeClass::kCompute;
  std::size_t index = 0;  // of the first bar
  int count = 1;
};
std::vector<PixelBar> pixel_bars(const std::vector<trace::Bar>& bars, const TimelineView& view,
                                 float left, float width);

}  // namespace shardlens::ui
