#include "ui/compare/compare_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace shardlens::ui::compare {
namespace {

TEST(CompareLayout, PartsLieWithinTheAreaAndNeverOverEachOther) {
  for (const auto& [w, h] :
       {std::pair{1264.0f, 660.0f}, {1584.0f, 860.0f}, {1904.0f, 1060.0f}, {900.0f, 520.0f}}) {
    for (std::size_t runs = 2; runs <= 6; ++runs) {
      for (const bool has_loss : {false, true}) {
        const state::Rect area{8, 64, w, h};
        const CompareLayout layout = compare_layout(
            {.area = area, .scale = 1, .runs = runs, .has_loss = has_loss, .has_caveat = true});
        const std::vector<state::Rect> parts{layout.chips,     layout.sentences, layout.caveat,
                                             layout.timelines, layout.waterfall, layout.table,
                                             layout.loss};
        for (std::size_t i = 0; i < parts.size(); ++i) {
          if (parts[i].empty()) continue;
          EXPECT_GE(parts[i].x, area.x) << i;
          EXPECT_LE(parts[i].right(), area.right() + 0.5f) << i;
          EXPECT_LE(parts[i].bottom(), area.bottom() + 0.5f) << i;
          for (std::size_t j = i + 1; j < parts.size(); ++j) {
            EXPECT_FALSE(!parts[i].empty() && !parts[j].empty() && parts[i].overlaps(parts[j]))
                << i << " " << j << " of " << runs << " runs at " << w;
          }
        }
        EXPECT_GT(layout.waterfall.h, 90) << runs << " runs at " << w;
        EXPECT_GE(layout.timeline_height, kLowestTimeline) << runs << " runs at " << w;
        EXPECT_GT(layout.timelines.h, 1.5f * kLowestTimeline)
            << "what is cut shows that it scrolls";
        const float n = static_cast<float>(runs);
        const float all = n * layout.timeline_height + (n - 1) * kTimelineGap;
        if (layout.timeline_height > kLowestTimeline || h > 1000) {
          EXPECT_LE(all, layout.timelines.h) << runs << " runs at " << w;
        }
        EXPECT_EQ(layout.loss.empty(), !has_loss || w < 1100);
      }
    }
  }
}

TEST(CompareLayout, LabelsLieApartAndNeverOutside) {
  const auto close = moved_apart({50, 50.5f, 49}, 18, 0, 100);
  EXPECT_LT(close[2], close[0]);
  EXPECT_LT(close[0], close[1]);
  EXPECT_EQ(moved_apart({9, 60, 91}, 18, 0, 100), (std::vector<float>{9, 60, 91}));
  // One far above, five at the lower end; and six that only fit closer together.
  for (const auto& [wishes, high] : {std::pair{std::vector<float>{2, 99, 99, 98, 97, 99}, 110.0f},
                                     {{80, 80, 80, 80, 80, 80}, 84.0f},
                                     {{-20, -20, 0, 200, 90, 90}, 120.0f}}) {
    const float height = std::min(18.0f, high / 6);
    auto centres = moved_apart(wishes, 18, 0, high);
    std::ranges::sort(centres);
    EXPECT_GE(centres.front(), height / 2 - 0.01f);
    EXPECT_LE(centres.back(), high - height / 2 + 0.01f);
    for (std::size_t i = 1; i < centres.size(); ++i) {
      EXPECT_GE(centres[i] - centres[i - 1], height - 0.01f);
    }
  }
  EXPECT_TRUE(moved_apart({}, 18, 0, 100).empty());
}

}  // namespace
}  // namespace shardlens::ui::compare
