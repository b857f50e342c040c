#include "ui/tune/layout.h"

#include <gtest/gtest.h>

#include <tuple>
#include <utility>
#include <vector>

namespace shardlens::ui::tune {

namespace {

std::vector<state::Rect> drawn(const TuneLayout& layout) {
  std::vector<state::Rect> rects;
  for (const state::Rect& rect :
       {layout.top_bar, layout.lesson, layout.messages, layout.replay, layout.knobs, layout.steps,
        layout.timeline, layout.memory, layout.advice, layout.dock}) {
    if (!rect.empty()) rects.push_back(rect);
  }
  return rects;
}

using LayoutCase = std::tuple<std::pair<int, int>, float, bool>;

class LayoutTest : public ::testing::TestWithParam<LayoutCase> {
 protected:
  LayoutInput input() const {
    const auto& [size, scale, everything] = GetParam();
    LayoutInput in;
    in.width = static_cast<float>(size.first);
    in.height = static_cast<float>(size.second);
    in.scale = scale;
    in.replay = everything;
    in.messages_height = everything ? 2 * 28 * in.scale : 0;
    return in;
  }
};

TEST_P(LayoutTest, NeverOverlapsPanels) {
  const auto rects = drawn(tune_layout(input()));
  for (std::size_t i = 0; i < rects.size(); ++i) {
    for (std::size_t j = i + 1; j < rects.size(); ++j)
      EXPECT_FALSE(rects[i].overlaps(rects[j])) << i << " " << j;
  }
}

TEST_P(LayoutTest, StaysWithinTheWindow) {
  const LayoutInput in = input();
  for (const state::Rect& rect : drawn(tune_layout(in))) {
    EXPECT_GE(rect.x, 0);
    EXPECT_GE(rect.y, 0);
    EXPECT_LE(rect.right(), in.width + 0.5f);
    EXPECT_LE(rect.bottom(), in.height + 0.5f);
  }
}

TEST_P(LayoutTest, LeavesTheTimelineRoomForOneRank) {
  const LayoutInput in = input();
  const TuneLayout layout = tune_layout(in);
  EXPECT_GE(layout.timeline.h / in.scale, in.replay ? 120 : 190);
  EXPECT_GE(layout.timeline.w / in.scale, 500);
  EXPECT_GE(layout.steps.h / in.scale, 100);
}

INSTANTIATE_TEST_SUITE_P(
    Windows, LayoutTest,
    ::testing::Combine(::testing::Values(std::pair{1280, 720}, std::pair{1280, 800},
                                         std::pair{1600, 1000}, std::pair{1920, 1200}),
                       ::testing::Values(1.0f, 1.5f), ::testing::Bool()));

TEST(TuneLayout, BesideALessonIsThatOfANarrowerWindow) {
  LayoutInput in;
  in.width = 1280;
  in.height = 800;
  in.messages_height = 28;
  in.fold_knobs = in.fold_dock = true;
  in.lesson_width = 400;
  const TuneLayout layout = tune_layout(in);
  const auto rects = drawn(layout);
  for (std::size_t i = 0; i < rects.size(); ++i) {
    for (std::size_t j = i + 1; j < rects.size(); ++j) EXPECT_FALSE(rects[i].overlaps(rects[j]));
  }
  EXPECT_EQ(layout.lesson.w, 400);
  EXPECT_EQ(layout.lesson.bottom(), layout.dock.bottom());
  EXPECT_TRUE(layout.memory.empty()) << "the dock offers it";
  in.width -= 400 + kPanelGap;
  in.lesson_width = 0;
  const TuneLayout alone = tune_layout(in);
  EXPECT_TRUE(alone.lesson.empty());
  EXPECT_EQ(layout.timeline.w, alone.timeline.w);
  EXPECT_EQ(layout.messages.w, alone.messages.w);
  EXPECT_EQ(layout.timeline.h, alone.timeline.h);
}

TEST(TuneLayout, FoldsTheLedgerInALowWindowUnlessAsked) {
  LayoutInput in;
  in.width = 1280;
  in.height = 600;
  EXPECT_TRUE(tune_layout(in).dock_folded);
  in.open_dock = true;
  EXPECT_FALSE(tune_layout(in).dock_folded);
}

TEST(TuneLayout, LetsTheOpenedLedgerTakeThePlaceOfATimelineTooLowToRead) {
  LayoutInput in;
  in.width = 1280;
  in.height = 720;
  in.scale = 1.5f;
  in.messages_height = 28 * in.scale;
  const float folded = tune_layout(in).timeline.h;
  in.open_dock = true;
  const TuneLayout layout = tune_layout(in);
  EXPECT_TRUE(layout.timeline.empty());
  EXPECT_GT(layout.dock.h, folded);
  EXPECT_FALSE(layout.dock.overlaps(layout.steps));
}

TEST(TuneLayout, KeepsMemoryBesideAnOpenedLedgerInAWideLowWindow) {
  LayoutInput in;
  in.width = 1600;
  in.height = 480;
  in.open_dock = true;
  const TuneLayout layout = tune_layout(in);
  EXPECT_TRUE(layout.timeline.empty());
  const auto rects = drawn(layout);
  for (std::size_t i = 0; i < rects.size(); ++i) {
    for (std::size_t j = i + 1; j < rects.size(); ++j) EXPECT_FALSE(rects[i].overlaps(rects[j]));
  }
}

TEST(TuneLayout, ShowsWhatWouldHelpBesideALongLedgerOnALaptop) {
  LayoutInput in;
  in.width = 1280;
  in.height = 800;
  in.messages_height = 28 * in.scale;
  in.dock_rows = 100;
  const TuneLayout layout = tune_layout(in);
  EXPECT_GE(layout.advice.h, 150);
  EXPECT_GE(layout.memory.h, 280);
}

TEST(TuneLayout, LeavesTheRoomOfMemoryThatNobodyRecordedToTheAdvice) {
  LayoutInput in;
  in.width = 1280;
  in.height = 900;
  const TuneLayout with = tune_layout(in);
  in.lacks_memory = true;
  const TuneLayout without = tune_layout(in);
  EXPECT_LT(without.memory.h, with.memory.h / 2);
  EXPECT_GT(without.advice.h, with.advice.h + with.memory.h / 2);
  EXPECT_FALSE(without.memory.overlaps(without.advice));
  EXPECT_EQ(without.advice.bottom(), with.advice.bottom());
}

TEST(TuneLayout, SharesALowCenterAndDropsTheTimelineLast) {
  LayoutInput in;
  in.width = 1280;
  in.height = 365;
  in.messages_height = 28 * in.scale;
  in.fold_dock = true;
  const TuneLayout both = tune_layout(in);
  EXPECT_GE(both.timeline.h, 110);
  EXPECT_GE(both.steps.h, 88);
  EXPECT_LE(both.steps.bottom(), both.timeline.y);
  in.height = 300;
  const TuneLayout alone = tune_layout(in);
  EXPECT_TRUE(alone.timeline.empty());
  EXPECT_GT(alone.steps.h, 100);
  EXPECT_LE(alone.steps.bottom(), alone.dock.y);
}

TEST(TuneLayout, LeavesWhatAShortLedgerDoesNotNeedToTheTimeline) {
  LayoutInput in;
  in.width = 1920;
  in.height = 1200;
  in.dock_rows = 40;
  const TuneLayout many = tune_layout(in);
  in.dock_rows = 4;
  const TuneLayout few = tune_layout(in);
  EXPECT_LT(few.dock.h, many.dock.h - 80);
  EXPECT_GT(few.timeline.h, many.timeline.h + 80);
  EXPECT_GE(few.dock.h, 4 * 28 + 36 + 24 + 22) << "rows under tabs and head, above the note";
}

TEST(TuneLayout, GivesFoldedKnobsToTheTimeline) {
  LayoutInput in;
  in.width = 1600;
  in.height = 1000;
  const float with = tune_layout(in).timeline.w;
  in.fold_knobs = true;
  EXPECT_TRUE(tune_layout(in).knobs.empty());
  EXPECT_GT(tune_layout(in).timeline.w, with + 280);
}

}  // namespace

}  // namespace shardlens::ui::tune
