#include "ui/compare/compare_layout.h"

#include <algorithm>
#include <cmath>

namespace shardlens::ui::compare {

namespace {

constexpr float kPartGap = 8;
constexpr float kTimelineShare = 0.5f, kLargestTimelineShare = 0.66f;
constexpr float kLowestTimeline = 86;  // title, axis and a ribbon
constexpr float kWidthForLoss = 1100;  // below it the table has its room
constexpr float kWaterfallShare = 0.34f, kTableShare = 0.6f;

}  // namespace

CompareLayout compare_layout(const CompareLayoutInput& input) {
  const auto px = [&](float length) { return std::round(length * input.scale); };
  const auto runs = static_cast<float>(std::max<std::size_t>(input.runs, 1));
  CompareLayout layout;
  state::Rect rest = input.area;
  layout.chips = rest.take_top(px(kChipRow));
  const float sentences = std::max(1.0f, runs - 1);
  layout.sentences = rest.take_top(px(kSentenceRow) * sentences);
  if (input.has_caveat) layout.caveat = rest.take_top(px(kCaveatRow));
  rest.take_top(px(kPartGap) / 2);
  const float gaps = px(kTimelineGap) * (runs - 1);
  const float wanted = std::clamp(runs * px(kLowestTimeline) + gaps, kTimelineShare * rest.h,
                                  std::max(kTimelineShare, kLargestTimelineShare) * rest.h);
  layout.timelines = rest.take_top(std::round(wanted), px(kPartGap));
  layout.timeline_height = std::floor((layout.timelines.h - gaps) / runs);
  const bool wide = input.area.w >= px(kWidthForLoss);
  layout.waterfall = rest.take_left(std::round(rest.w * kWaterfallShare), px(kPartGap));
  if (input.has_loss && wide) {
    layout.table = rest.take_left(std::round(rest.w * kTableShare), px(kPartGap));
    layout.loss = rest;
  } else {
    layout.table = rest;
  }
  return layout;
}

}  // namespace shardlens::ui::compare
