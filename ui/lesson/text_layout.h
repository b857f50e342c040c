// Where the words of a paragraph lie that mixes styles. Free of ImGui; any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ui/state/lesson.h"

namespace shardlens::ui::lesson {

// The width of a text in a style, in pixels.
using MeasureText = std::function<float(state::TextStyle, std::string_view)>;

// Of one style, on one line.
struct PlacedText {
  state::TextStyle style = state::TextStyle::kPlain;
  std::string text;
  int line = 0;
  float x = 0, width = 0;  // pixels, from the line's start

  bool operator==(const PlacedText&) const = default;
};

struct PlacedLines {
  std::vector<PlacedText> texts;  // from left to right, line after line
  int lines = 0;
};

// Lines end at spaces, which are one between two words, and at line breaks; never between a figure
// and its unit. Words that touch stay together, whatever their styles: "**one**, two". A word that
// is wider than `width` by itself is broken between two characters.
PlacedLines place_words(const std::vector<state::StyledText>& runs, float width,
                        const MeasureText& measure);

}  // namespace shardlens::ui::lesson
