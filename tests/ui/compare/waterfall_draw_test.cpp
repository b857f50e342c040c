#include "ui/compare/waterfall_draw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/ui/inspect/testing/headless_panel.h"
#include "ui/present/compare/differences.h"

namespace shardlens::ui::present {
namespace {

using trace::analysis::ShareDifference;
using trace::analysis::StepExplanation;
using trace::analysis::StepShare;

constexpr double kWaterfallMs = 1e6;

StepExplanation waterfall_explanation(const std::vector<double>& differences_ms,
                                      double first_ms = 200) {
  StepExplanation explanation{.first_ns = first_ms * kWaterfallMs,
                              .second_ns = first_ms * kWaterfallMs,
                              .parts = {},
                              .phases = {}};
  for (const double ms : differences_ms) {
    explanation.parts.push_back({.share = StepShare::kIdle,
                                 .name = "idle",
                                 .first = 20 * kWaterfallMs,
                                 .second = (20 + ms) * kWaterfallMs});
    explanation.second_ns += ms * kWaterfallMs;
  }
  return explanation;
}

TEST(Waterfall, EachBarBeginsWhereTheOneBeforeEnded) {
  for (const std::size_t most : {3u, 4u, 6u, 12u}) {
    const auto waterfall = waterfall_of(waterfall_explanation({-9, 6, -4, 2, -1, 0.5}),
                                        WaterfallOf::kParts, "A", "B", most);
    ASSERT_GE(waterfall.bars.size(), 3u);
    EXPECT_LE(waterfall.bars.size(), most);
    EXPECT_TRUE(waterfall.bars.front().is_total && waterfall.bars.back().is_total);
    double at = waterfall.bars.front().to_ns;
    for (std::size_t i = 1; i + 1 < waterfall.bars.size(); ++i) {
      EXPECT_DOUBLE_EQ(waterfall.bars[i].from_ns, at);
      at = waterfall.bars[i].to_ns;
    }
    EXPECT_NEAR(at, waterfall.bars.back().to_ns, 1e-3) << "also where the rest is one bar";
    for (const auto& bar : waterfall.bars) {
      for (const double ns : {bar.is_total ? bar.to_ns : bar.from_ns, bar.to_ns}) {
        EXPECT_GE(waterfall.position(ns), 0);
        EXPECT_LE(waterfall.position(ns), 1);
      }
    }
  }
}

TEST(Waterfall, ShowsSmallDifferencesLargeAndLargeOnesFromZero) {
  const auto small = waterfall_of(waterfall_explanation({-2, 1}), WaterfallOf::kParts, "A", "B");
  EXPECT_GT(small.low_ns, 0);
  EXPECT_GT(small.position(200 * kWaterfallMs) - small.position(198 * kWaterfallMs), 0.5);
  const auto large = waterfall_of(waterfall_explanation({-150, 20}), WaterfallOf::kParts, "A", "B");
  EXPECT_EQ(large.low_ns, 0);
}

// As wide as in the smallest window, and wider.
TEST(Waterfall, CutsNoFigure) {
  Waterfall waterfall{
      .bars = {{.title = "A · base 0", .to_ns = 261e6, .is_total = true, .text = "261.3 ms"},
               {.title = "waiting for the last rank",
                .from_ns = 261e6,
                .to_ns = 285e6,
                .text = "+23.55 ms ± 17.55"},
               {.title = "B", .to_ns = 285e6, .is_total = true, .text = "284.8 ms"}},
      .high_ns = 300e6};
  for (const int width : {300, 355, 600}) {
    inspect::HeadlessPanel panel(
        width, 100, 1, state::ThemeKind::kDark,
        [&](const kit::Theme& theme, const state::Rect& rect, state::Commands&) {
          compare::draw_waterfall(theme, rect, waterfall);
        });
    panel.frames();
    for (const WaterfallBar& bar : waterfall.bars) {
      EXPECT_TRUE(panel.probe().shows(bar.text)) << bar.text << " in " << width;
    }
    EXPECT_EQ(panel.probe().shows(waterfall.bars[1].title), width > 355) << width;
    EXPECT_THAT(overlapping_texts_of(panel.probe()), testing::IsEmpty()) << width;
  }
}

// "The rest" alone would say nothing.
TEST(Waterfall, HasRoomForTheLargestShareWhereverItIsDrawn) {
  const auto explanation = waterfall_explanation({-9, 6, -4, 2});
  std::vector<WaterfallBar> bars;
  inspect::HeadlessPanel panel(380, 150, 1.5f, state::ThemeKind::kDark,
                               [&](const kit::Theme& theme, const state::Rect&, state::Commands&) {
                                 bars = waterfall_of(explanation, WaterfallOf::kParts, "A", "B",
                                                     compare::waterfall_room(theme, 110))
                                            .bars;
                               });
  panel.frames();
  ASSERT_EQ(bars.size(), 4u);
  EXPECT_EQ(bars[1].title, "idle");
  EXPECT_EQ(bars[2].title, "the rest");
}

// In a large window, in a small one, and in one where six runs leave it little.
TEST(Waterfall, UsesTheHeightThatItHas) {
  const auto waterfall =
      waterfall_of(waterfall_explanation({-9, 6, -4, 2}), WaterfallOf::kParts, "A", "B");
  ASSERT_EQ(waterfall.bars.size(), 6u);
  for (const int height : {447, 246, 100}) {
    inspect::HeadlessPanel panel(
        570, height, 1, state::ThemeKind::kDark,
        [&](const kit::Theme& theme, const state::Rect& rect, state::Commands&) {
          compare::draw_waterfall(theme, rect, waterfall);
        });
    panel.frames();
    const auto& texts = panel.probe().texts;
    const auto last = std::ranges::find(texts, "B", &kit::DrawProbe::Text::text);
    ASSERT_NE(last, texts.end()) << height;
    EXPECT_GT(last->rect.center_y(), 0.75f * static_cast<float>(height)) << height;
    EXPECT_LT(last->rect.bottom(), static_cast<float>(height)) << height;
    EXPECT_THAT(overlapping_texts_of(panel.probe()), testing::IsEmpty()) << height;
  }
}

TEST(Waterfall, OfNothingHasNoBars) {
  EXPECT_TRUE(waterfall_of({}, WaterfallOf::kParts, "A", "B").bars.empty());
  EXPECT_TRUE(
      waterfall_of(waterfall_explanation({1}), WaterfallOf::kPhases, "A", "B").bars.empty());
}

}  // namespace
}  // namespace shardlens::ui::present
