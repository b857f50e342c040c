#include "ui/state/palette.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/ui/testing/color_vision.h"

namespace shardlens::ui::state {

namespace {

// Ten just noticeable differences (2.3 each): clearly different side by side, without a legend.
constexpr double kDistinct = 23;

// Seven of them: told apart by the label beside it, for eight categories in one scale.
constexpr double kApart = 16;

using Named = std::pair<std::string, Rgb>;

std::vector<Named> time_colors(const Palette& p) {
  return {{"compute", p.compute},
          {"overlapped", p.overlapped},
          {"exposed", p.exposed},
          {"optimizer", p.optimizer},
          {"idle", p.idle}};
}

class PaletteTest : public ::testing::TestWithParam<ThemeKind> {
 protected:
  const Palette& p() const { return palette(GetParam()); }
};

TEST(Palette, HasTheColoursOfTheDesign) {
  const Palette& dark = palette(ThemeKind::kDark);
  EXPECT_EQ(dark.compute, rgb(0x2f6fe0));
  EXPECT_EQ(dark.overlapped, rgb(0x5fdcb4));
  EXPECT_EQ(dark.exposed, rgb(0xff8a3d));
  EXPECT_EQ(dark.optimizer, rgb(0xd9b8ff));
  EXPECT_EQ(dark.idle, rgb(0x3a424d));
  const Palette& light = palette(ThemeKind::kLight);
  EXPECT_EQ(light.compute, rgb(0x1f5fd0));
  EXPECT_EQ(light.overlapped, rgb(0x1fa088));
  EXPECT_EQ(light.exposed, rgb(0xd95f0e));
  EXPECT_EQ(light.optimizer, rgb(0x3f1a70));
  EXPECT_EQ(light.idle, rgb(0xc8d0d8));
}

TEST_P(PaletteTest, TellsWhereTimeGoesApartForEveryKindOfColourBlindness) {
  for (const Vision vision :
       {Vision::kNormal, Vision::kProtanopia, Vision::kDeuteranopia, Vision::kTritanopia}) {
    const auto colors = time_colors(p());
    for (std::size_t i = 0; i < colors.size(); ++i) {
      for (std::size_t j = i + 1; j < colors.size(); ++j) {
        const double distance =
            color_distance(simulate(colors[i].second, vision), simulate(colors[j].second, vision));
        EXPECT_GT(distance, kDistinct) << colors[i].first << " and " << colors[j].first
                                       << ", vision " << static_cast<int>(vision);
      }
    }
  }
}

TEST_P(PaletteTest, HasReadableTextOnEverySurface) {
  const Palette& c = p();
  const std::vector<Named> surfaces{{"window", c.window}, {"panel", c.panel},
                                    {"field", c.field},   {"hover", c.hover},
                                    {"popup", c.popup},   {"row", c.row_selected}};
  const std::vector<Named> inks{
      {"text", c.text},       {"secondary", c.text_secondary}, {"muted", c.text_muted},
      {"heading", c.heading}, {"accent text", c.accent_text},  {"changed", c.changed},
      {"danger", c.danger}};
  for (const auto& [surface_name, surface] : surfaces) {
    for (const auto& [ink_name, ink] : inks) {
      EXPECT_GE(contrast_ratio(ink, surface), 4.5) << ink_name << " on " << surface_name;
    }
  }
  EXPECT_GE(contrast_ratio(c.on_primary, c.primary), 4.5);
  EXPECT_GE(contrast_ratio(c.on_primary, c.primary_hover), 4.5);
  EXPECT_GE(contrast_ratio(c.on_danger, c.danger_field), 4.5);
}

TEST_P(PaletteTest, HasMarksThatStandOutFromThePanel) {
  const Palette& c = p();
  // Idle is the absence of work and quiet by design; its outline carries the contrast.
  const std::vector<Named> marks{
      {"compute", c.compute},       {"overlapped", c.overlapped},
      {"exposed", c.exposed},       {"optimizer", c.optimizer},
      {"idle edge", c.idle_edge},   {"copy", c.copy},
      {"phase edge", c.phase_edge}, {"optimizer phase edge", c.phase_optimizer_edge},
      {"accent", c.accent},         {"good", c.good},
      {"changed", c.changed}};
  for (const auto& [name, mark] : marks) EXPECT_GE(contrast_ratio(mark, c.panel), 3.0) << name;
  for (const Rgb part : c.memory) EXPECT_GE(contrast_ratio(part, c.panel), 3.0);
}

TEST_P(PaletteTest, WritesReadablyOnEveryBar) {
  const Palette& c = p();
  for (int i = 0; i <= static_cast<int>(trace::base::TimeClass::kOtherPhase); ++i) {
    const Rgb bar = time_color(c, static_cast<trace::base::TimeClass>(i));
    EXPECT_GE(contrast_ratio(text_on(bar), bar), 4.5) << i;
  }
  for (const Rgb part : c.memory) EXPECT_GE(contrast_ratio(text_on(part), part), 4.5);
}

TEST_P(PaletteTest, TellsEveryTwoMemoryCategoriesApartForEveryKindOfColourBlindness) {
  const Palette& c = p();
  for (const Vision vision :
       {Vision::kNormal, Vision::kProtanopia, Vision::kDeuteranopia, Vision::kTritanopia}) {
    for (int i = 0; i < trace::model::kMemoryCategoryCount; ++i) {
      for (int j = i + 1; j < trace::model::kMemoryCategoryCount; ++j) {
        // On light ground all of them are dark, and shades of one scale would look the same.
        const double least = GetParam() == ThemeKind::kLight ? kDistinct : kApart;
        EXPECT_GT(color_distance(simulate(c.memory[i], vision), simulate(c.memory[j], vision)),
                  least)
            << trace::model::to_string(static_cast<trace::model::MemoryCategory>(i)) << " and "
            << trace::model::to_string(static_cast<trace::model::MemoryCategory>(j)) << ", vision "
            << static_cast<int>(vision);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(BothThemes, PaletteTest,
                         ::testing::Values(ThemeKind::kDark, ThemeKind::kLight),
                         [](const auto& test) {
                           return test.param == ThemeKind::kDark ? "Dark" : "Light";
                         });

TEST(ColorVision, MakesRedAndGreenAlikeAndKeepsGrey) {
  const Rgb red = rgb(0xb04040), green = rgb(0x6a6a20), grey = rgb(0x808080);
  for (const Vision vision : {Vision::kProtanopia, Vision::kDeuteranopia}) {
    EXPECT_LT(color_distance(simulate(red, vision), simulate(green, vision)),
              color_distance(red, green) * 0.6);
    EXPECT_LT(color_distance(simulate(grey, vision), grey), 1);
  }
  EXPECT_NEAR(color_distance(rgb(0xffffff), rgb(0x000000)), 100, 0.1);
}

}  // namespace

}  // namespace shardlens::ui::state
