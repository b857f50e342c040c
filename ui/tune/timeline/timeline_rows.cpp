#include "ui/tune/timeline/timeline_rows.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace shardlens::ui {

namespace {

constexpr float kMostStretch = 2.2f, kLeastStretch = 0.75f;
// Pixels: a bar thinner than kThin cannot be told from its neighbours; a group has kGroup to
// kWidestGroup.
constexpr float kThin = 2, kGroup = 4, kWidestGroup = 12;

// A bar that can be seen keeps to itself. Groups stay narrow and begin at longer bars, so that a
// dense row keeps its texture.
bool joins(const PixelBar& last, float x0, float x1) {
  if (x0 - last.x1 >= 0.75f || x1 - x0 >= kThin) return false;
  const float width = last.x1 - last.x0;
  if (last.count == 1 || width < kGroup) return width < (last.count == 1 ? kThin : kGroup);
  const bool longer = x1 - x0 > 1.5f * width / static_cast<float>(last.count);
  return width < kWidestGroup && !longer;
}

RankRows unfolded_rows(const RowHeights& heights, const trace::RankTimeline& rank, float y,
                       float scale) {
  const auto px = [scale](float length) { return std::round(length * scale); };
  const float more = rank.lanes.size() > 1 ? static_cast<float>(rank.lanes.size() - 1) : 0;
  const float lanes =
      px(heights.communication) + more * (px(heights.communication) + px(heights.lane_gap));
  RankRows rows;
  rows.rank = rank.rank;
  rows.unfolded = true;
  rows.y = y;
  rows.phases = y;
  rows.compute = rows.phases + px(heights.phases) + px(heights.gap);
  rows.communication = rows.compute + px(heights.compute) + px(heights.gap);
  rows.buckets = rows.communication + lanes + px(heights.gap);
  rows.ribbon = rows.buckets + px(heights.buckets) + px(heights.gap);
  rows.height = rows.ribbon + px(heights.ribbon) + px(heights.rank_gap) - y;
  return rows;
}

RankRows folded_rows(const RowHeights& heights, int rank, float y, float scale) {
  RankRows rows;
  rows.rank = rank;
  rows.unfolded = false;
  rows.y = y;
  rows.height = std::round(heights.folded * scale);
  rows.ribbon = y + std::round((heights.folded - heights.ribbon) / 2 * scale);
  return rows;
}

}  // namespace

RowHeights RowHeights::stretched(float factor) const {
  RowHeights out = *this;
  for (float* height : {&out.phases, &out.compute, &out.communication, &out.buckets, &out.ribbon,
                        &out.gap, &out.lane_gap, &out.rank_gap, &out.folded}) {
    *height *= factor;
  }
  return out;
}

namespace {

// The ranks that are shown, from the top; the rest behind them, as far as there is one.
std::vector<std::size_t> ranks_in_order(const std::vector<trace::RankTimeline>& ranks) {
  std::vector<std::size_t> order(ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (ranks.size() <= kMostRankRows) return order;
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t i) { return ranks[i].breakdown.compute_ns; });
  return order;
}

void fold_rest(TimelineRows& out, const std::vector<trace::RankTimeline>& ranks,
               std::vector<std::size_t>& order, bool all) {
  if (ranks.size() <= kMostRankRows) return;
  const auto compute = [&](std::size_t i) {
    return static_cast<double>(ranks[i].breakdown.compute_ns);
  };
  out.rest = ranks.size() - kExtremeRankRows;
  out.rest_most_ns = compute(order[kExtremeRankRows]);
  out.rest_least_ns = compute(order.back());
  if (!all) order.resize(kExtremeRankRows);
}

}  // namespace

TimelineRows timeline_rows(const std::vector<trace::RankTimeline>& ranks, float available,
                           float scale, const RankWishes& wishes) {
  TimelineRows out;
  std::vector<std::size_t> order = ranks_in_order(ranks);
  fold_rest(out, ranks, order, wishes.all);
  const float folded = out.heights.folded * scale;
  if (out.rest > 0) available -= folded;
  const auto unfolded = [&](std::size_t i) {
    return out.heights.unfolded(ranks[order[i]].lanes.size()) * scale;
  };
  float spare = available - folded * static_cast<float>(order.size());
  std::vector<bool> open;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto wish = wishes.unfolded.find(ranks[order[i]].rank);
    open.push_back(wish != wishes.unfolded.end() ? wish->second
                   : i == 0                      ? available >= kLeastStretch * unfolded(i)
                                                 : spare >= unfolded(i) - folded);
    if (open.back()) spare -= unfolded(i) - folded;
  }
  // What is left over makes the rows higher; a little less, for rounding to pixels.
  const float used = available - spare;
  // Where not even one rank fits, its rows get lower; the other ranks are scrolled to.
  const float first = order.empty() ? 0 : unfolded(0);
  const float least = available < first ? std::max(kLeastStretch, available / first) : 1;
  const float factor =
      std::clamp((available - 8 * scale) / std::max(used, 1.0f), least, kMostStretch);
  out.heights = out.heights.stretched(factor);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const trace::RankTimeline& rank = ranks[order[i]];
    out.ranks.push_back(open[i] ? unfolded_rows(out.heights, rank, out.height, scale)
                                : folded_rows(out.heights, rank.rank, out.height, scale));
    out.ranks.back().index = order[i];
    out.height += out.ranks.back().height;
  }
  if (out.rest > 0) {
    out.rest_y = out.height;
    out.rest_height = std::round(out.heights.folded * scale);
    out.height += out.rest_height;
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
      if (last.bar_class == bar.bar_class && joins(last, x0, x1)) {
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
