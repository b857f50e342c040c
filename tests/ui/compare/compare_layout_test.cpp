#include "ui/compare/compare_layout.h"

#include <gtest/gtest.h>

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
        const float n = static_cast<float>(runs);
        EXPECT_LE(n * layout.timeline_height + (n - 1) * kTimelineGap, layout.timelines.h);
        EXPECT_EQ(layout.loss.empty(), !has_loss || w < 1100);
      }
    }
  }
}

}  // namespace
}  // namespace shardlens::ui::compare
