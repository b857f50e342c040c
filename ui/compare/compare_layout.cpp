#include "ui/compare/compare_layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace shardlens::ui::compare {

namespace {

constexpr float kPartGap = 8;
constexpr float kSentenceRow = 30, kLowSentenceRow = 24;
constexpr std::size_t kFewRuns = 4;  // up to which sentences have the higher row
constexpr float kTimelineShare = 0.5f, kLargestTimelineShare = 0.62f;
constexpr float kWidthForLoss = 1100;  // below it the table has its room
constexpr float kWaterfallShare = 0.3f, kTableShare = 0.70f;

}  // namespace

CompareLayout compare_layout(const CompareLayoutInput& input) {
  const auto px = [&](float length) { return std::round(length * input.scale); };
  const auto runs = static_cast<float>(std::max<std::size_t>(input.runs, 1));
  CompareLayout layout;
  state::Rect rest = input.area;
  layout.chips = rest.take_top(px(kChipRow));
  const float sentences = std::max(1.0f, runs - 1);
  layout.sentence_height = px(input.runs > kFewRuns ? kLowSentenceRow : kSentenceRow);
  layout.sentences = rest.take_top(layout.sentence_height * sentences);
  if (input.has_caveat) layout.caveat = rest.take_top(px(kCaveatRow));
  rest.take_top(px(kPartGap) / 2);
  const float gaps = px(kTimelineGap) * (runs - 1);
  const float wanted = std::clamp(runs * px(kLowestTimeline) + gaps, kTimelineShare * rest.h,
                                  kLargestTimelineShare * rest.h);
  layout.timelines = rest.take_top(std::round(wanted), px(kPartGap));
  layout.timeline_height =
      std::max(px(kLowestTimeline), std::floor((layout.timelines.h - gaps) / runs));
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

std::vector<float> moved_apart(std::vector<float> wishes, float height, float low, float high) {
  if (wishes.empty()) return wishes;
  std::vector<std::size_t> order(wishes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return wishes[i]; });
  const float step = std::min(height, (high - low) / static_cast<float>(wishes.size()));
  float next = low + step / 2;
  for (const std::size_t i : order) {
    wishes[i] = std::max(wishes[i], next);
    next = wishes[i] + step;
  }
  float last = high - step / 2;
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    wishes[*i] = std::min(wishes[*i], last);
    last = wishes[*i] - step;
  }
  return wishes;
}

}  // namespace shardlens::ui::compare
