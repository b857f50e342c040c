// Fonts, colours, spacing: what every panel is drawn with. Interface thread only.
#pragma once

#include <imgui.h>

#include <array>

#include "ui/state/geometry.h"
#include "ui/state/palette.h"

namespace shardlens::ui::kit {

class DrawProbe;
class FocusRing;

enum class Face : std::uint8_t {
  kBody,
  kSmall,
  kMedium,
  kStrong,
  kHeading,  // small capitals' stand-in: group headings
  kTitle,
  kReading,  // texts of more than a few lines
  kReadingStrong,
  kMono,
  kMonoSmall,
  kMonoLarge,
  kMonoReading,
};
inline constexpr int kFaceCount = 12;

using Fonts = std::array<ImFont*, kFaceCount>;

// Builds the atlas's fonts for an interface scale; between frames only. The renderer's texture must
// be made anew afterwards. The font files are part of the program.
Fonts rebuild_fonts(ImFontAtlas& atlas, float scale);

// What a panel needs to draw: handed down by reference, valid for one frame.
struct Theme {
  const state::Palette* palette = nullptr;
  Fonts fonts{};
  float scale = 1;
  bool present = false;
  DrawProbe* probe = nullptr;  // of tests: sees every text and everything that can be clicked
  FocusRing* focus = nullptr;  // of the window: which control has the keyboard

  const state::Palette& colors() const { return *palette; }
  ImFont* font(Face face) const { return fonts[static_cast<std::size_t>(face)]; }
  // Lengths are given for scale 1, on a grid of 8 with halves; drawn on whole pixels.
  float px(float length) const;
};

// Colours and metrics of ImGui's own widgets (input fields, pop-ups, scrollbars).
void apply_style(const Theme& theme);

}  // namespace shardlens::ui::kit
