#include "ui/timeline_rows.h"

#include <algorithm>
#include <cmath>

namespace shardlens::ui {

namespace {

RankRows unfolded_rows(int rank, float y, float scale) {
  const auto px = [scale](float length) { return std::round(length * scale); };
  RankRows rows;
  rows.rank = rank;
  rows.unfolded = true;
  rows.y = y;
  rows.phases = y;
  rows.compute = rows.phases + px(RowHeights::kPhases + RowHeights::kGap);
  rows.communication = rows.compute + px(RowHeights::kCompute + RowHeights::kGap);
  rows.buckets = rows.communication + px(RowHeights::kCommunication + RowHeights::kGap);
  rows.ribbon = rows.buckets + px(RowHeights::kBuckets + RowHeights::kGap);
  rows.height = px(RowHeights::unfolded());
  return rows;
}

}  // namespace

TimelineRows timeline_rows(const std::vector<trace::RankTimeline>& ranks, float available,
                           float scale, const std::map<int, bool>& wishes) {
  TimelineRows out;
  const float unfolded = std::round(RowHeights::unfolded() * scale);
  const float folded = std::round(RowHeights::kFolded * scale);
  float spare = available - folded * static_cast<float>(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto wish = wishes.find(ranks[i].rank);
    bool open = i == 0 || spare >= unfolded - folded;
    if (wish != wishes.end()) open = wish->second;
    RankRows rows;
    if (open) {
      spare -= unfolded - folded;
      rows = unfolded_rows(ranks[i].rank, out.height, scale);
    } else {
      rows.rank = ranks[i].rank;
      rows.unfolded = false;
      rows.y = out.height;
      rows.height = folded;
      rows.ribbon =
          out.height + std::round((RowHeights::kFolded - RowHeights::kRibbon) / 2 * scale);
    }
    out.height += rows.height;
    out.ranks.push_back(rows);
  }
  return out;
}

std::vector<PixelBar> pixel_bars(const std::vector<trace::Bar>& bars, const TimelineView& view,
                                 float left, float width) {
  std::vector<PixelBar> out;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const trace::Bar& bar = bars[i];
    const auto start = static_cast<double>(bar.start_ns), end = static_cast<double>(bar.end_ns);
    if (end < view.start_ns() || start > view.end_ns()) continue;
    const float x0 = std::max(view.x_from_time(start, left, width), left - 1);
    const float x1 = std::min(view.x_from_time(end, left, width), left + width + 1);
    if (!out.empty()) {
      PixelBar& last = out.back();
      const bool close = x0 - last.x1 < 0.75f;
      const bool thin = x1 - x0 < 2.0f || last.x1 - last.x0 < 2.0f;
      if (close && thin && last.bar_class == bar.bar_class) {
        last.x1 = std::max(last.x1, x1);
        ++last.count;
        continue;
      }
    }
    out.push_back({x0, x1, bar.bar_class, i, 1});
  }
  return out;
}

}  // namespace shardlens::ui
