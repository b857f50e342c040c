#include "ui/inspect/inspect_layout.h"

#include <gtest/gtest.h>

#include <tuple>
#include <utility>
#include <vector>

namespace shardlens::ui::inspect {

namespace {

using LayoutCase = std::tuple<std::pair<int, int>, float, float>;

class InspectLayoutTest : public ::testing::TestWithParam<LayoutCase> {
 protected:
  InspectLayoutTest() {
    const auto size = std::get<0>(GetParam());
    const float top = 64 * scale;
    area = {8 * scale, top, static_cast<float>(size.first) - 16 * scale,
            static_cast<float>(size.second) - top - 8 * scale};
  }
  InspectLayout placed(float share = std::get<2>(GetParam())) const {
    return inspect_layout(area, scale, share);
  }
  static std::vector<state::Rect> drawn(const InspectLayout& layout) {
    std::vector<state::Rect> out;
    for (const state::Rect& rect : {layout.minimap, layout.toolbar, layout.timeline, layout.details,
                                    layout.splitter, layout.tabs}) {
      if (!rect.empty()) out.push_back(rect);
    }
    return out;
  }

  state::Rect area;
  const float scale = std::get<1>(GetParam());
};

TEST_P(InspectLayoutTest, KeepsPartsApartAndInside) {
  const auto rects = drawn(placed());
  for (std::size_t i = 0; i < rects.size(); ++i) {
    EXPECT_GE(rects[i].x, area.x);
    EXPECT_GE(rects[i].y, area.y);
    EXPECT_LE(rects[i].right(), area.right() + 0.5f);
    EXPECT_LE(rects[i].bottom(), area.bottom() + 0.5f);
    for (std::size_t j = i + 1; j < rects.size(); ++j) {
      EXPECT_FALSE(rects[i].overlaps(rects[j])) << i << " " << j;
    }
  }
}

TEST_P(InspectLayoutTest, AlwaysLeavesTheTimelineItsRoom) {
  const InspectLayout layout = placed();
  EXPECT_GE(layout.timeline.h, std::min(150 * scale, area.h * 0.4f) - 2);
  EXPECT_GE(layout.timeline.w, area.w * 0.55f);
  EXPECT_FALSE(layout.toolbar.empty());
}

TEST_P(InspectLayoutTest, DraggingTheSplitterPutsItUnderTheMouse) {
  const InspectLayout before = placed();
  if (before.tabs.empty()) return;
  for (const float at : {0.4f, 0.55f, 0.7f}) {
    const float y = before.timeline.y + (before.tabs.bottom() - before.timeline.y) * at;
    const InspectLayout after = placed(tabs_share_at(before, y));
    const bool at_limit = after.timeline.h <= 151 * scale || after.tabs.h <= 113 * scale;
    if (!at_limit) {
      EXPECT_NEAR(after.splitter.center_y(), y, 2 * scale);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, InspectLayoutTest,
    ::testing::Combine(::testing::Values(std::pair{1280, 720}, std::pair{1280, 800},
                                         std::pair{1920, 1200}, std::pair{2560, 1440},
                                         std::pair{3840, 2160}),
                       ::testing::Values(0.75f, 1.0f, 1.5f, 2.0f, 3.0f),
                       ::testing::Values(0.12f, 0.36f, 0.75f)));

TEST(InspectLayout, ShowsEverythingAtTheSizeOfAUsualWindow) {
  const InspectLayout layout = inspect_layout({8, 64, 1'264, 648}, 1, 0.36f);
  for (const state::Rect& rect : {layout.minimap, layout.toolbar, layout.timeline, layout.details,
                                  layout.splitter, layout.tabs}) {
    EXPECT_FALSE(rect.empty());
  }
}

}  // namespace

}  // namespace shardlens::ui::inspect
