#include <gtest/gtest.h>

#include <string>

#include "tests/ui/testing/headless_context.h"
#include "ui/kit/draw_probe.h"
#include "ui/kit/paint.h"
#include "ui/kit/widgets.h"

namespace shardlens::ui::kit {
namespace {

struct TooltipTest : testing::Test {
  HeadlessContext context{800, 600};
  DrawProbe probe;
  Theme theme;

  TooltipTest() {
    theme.palette = &state::palette(state::ThemeKind::kDark);
    theme.fonts = rebuild_fonts(*ImGui::GetIO().Fonts, 1);
    theme.probe = &probe;
  }
  // Where it is drawn.
  state::Rect place_of(const std::string& note) {
    for (int i = 0; i < 3; ++i) {
      context.play([&] {
        probe.begin_frame();
        const TooltipScope scope(theme);
        scope.note(note);
      });
    }
    return probe.texts.back().rect;
  }
};

// "… 6," at the end of a line and "144" in the next one read as two numbers.
TEST_F(TooltipTest, ANumberStaysWhole) {
  const float line = place_of("x").h;
  std::string words = "norms 1,552, queries, keys, values 2,304, ";
  while (place_of("i" + words + "6,").h < 1.5f * line) words = "i" + words;
  const state::Rect place = place_of(words + "6,144");
  EXPECT_GT(place.h, 1.5f * line) << "there is no room for all of it";
  EXPECT_LE(place.w, text_width(theme, Face::kSmall, words) + 1);
}

TEST_F(TooltipTest, APercentSignStaysWithItsNumber) {
  const std::string words = "294.3 to 412.6 ms ";
  const float width = text_width(theme, Face::kSmall, words + "(95") + 1;
  const auto lines = wrapped_lines(theme, Face::kSmall, width, words + "(95 %)");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1], "(95 %)");
}

TEST_F(TooltipTest, LinesOfATextStandAsCloseAsItsFontHasThem) {
  EXPECT_EQ(place_of("one\ntwo\nthree").h, 3 * place_of("one").h);
}

}  // namespace
}  // namespace shardlens::ui::kit
