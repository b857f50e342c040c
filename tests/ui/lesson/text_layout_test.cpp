#include "ui/lesson/text_layout.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace shardlens::ui::lesson {
namespace {

using state::TextStyle;

constexpr float kCharacter = 10, kCodeCharacter = 12;

// Of characters, not of bytes.
float width_of(TextStyle style, std::string_view text) {
  int characters = 0;
  for (const char c : text) characters += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  const float each = style == TextStyle::kCode ? kCodeCharacter : kCharacter;
  return each * static_cast<float>(characters);
}

std::vector<std::string> lines_of(const std::vector<state::StyledText>& runs, float width) {
  const PlacedLines placed = place_words(runs, width, width_of);
  std::vector<std::string> lines(static_cast<std::size_t>(placed.lines));
  for (const PlacedText& text : placed.texts) {
    EXPECT_LE(text.x + text.width, width) << text.text;
    lines[static_cast<std::size_t>(text.line)] += text.text;
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(PlaceWords, BreaksBetweenWords) {
  const std::vector<state::StyledText> runs{{TextStyle::kPlain, "one two  three\tfour"}};
  EXPECT_EQ(lines_of(runs, 130), (Lines{"one two three", "four"}));
  EXPECT_EQ(lines_of(runs, 129), (Lines{"one two", "three four"}));
  EXPECT_EQ(lines_of(runs, 50), (Lines{"one", "two", "three", "four"}));
  EXPECT_EQ(lines_of({}, 50), Lines{});
  EXPECT_EQ(lines_of({{TextStyle::kPlain, "  "}}, 50), Lines{});
}

TEST(PlaceWords, ALineBreakEndsALine) {
  EXPECT_EQ(lines_of({{TextStyle::kPlain, "one\ntwo three"}}, 500), (Lines{"one", "two three"}));
}

TEST(PlaceWords, AStyleIsOneTextAsFarAsItGoes) {
  const std::vector<state::StyledText> runs{
      {TextStyle::kPlain, "set "}, {TextStyle::kCode, "cap = 4"}, {TextStyle::kPlain, " now"}};
  const PlacedLines placed = place_words(runs, 500, width_of);
  EXPECT_EQ(placed.lines, 1);
  EXPECT_EQ(placed.texts, (std::vector<PlacedText>{{TextStyle::kPlain, "set ", 0, 0, 40},
                                                   {TextStyle::kCode, "cap = 4", 0, 40, 84},
                                                   {TextStyle::kPlain, " now", 0, 124, 40}}));
}

TEST(PlaceWords, WhatTouchesStaysTogetherWhateverItsStyle) {
  const std::vector<state::StyledText> runs{
      {TextStyle::kPlain, "of "}, {TextStyle::kStrong, "two"}, {TextStyle::kPlain, "-rank, runs"}};
  EXPECT_EQ(lines_of(runs, 110), (Lines{"of", "two-rank,", "runs"}));
}

TEST(PlaceWords, AUnitStaysWithItsFigure) {
  EXPECT_EQ(lines_of({{TextStyle::kPlain, "hides 67 % of it"}}, 90),
            (Lines{"hides", "67 % of", "it"}));
  EXPECT_EQ(lines_of({{TextStyle::kPlain, "takes 9.1 ms, so"}}, 100),
            (Lines{"takes", "9.1 ms, so"}));
  EXPECT_EQ(lines_of({{TextStyle::kPlain, "the 12 blocks"}}, 70), (Lines{"the 12", "blocks"}));
}

TEST(PlaceWords, AWordWiderThanALineIsBrokenBetweenCharacters) {
  EXPECT_EQ(lines_of({{TextStyle::kPlain, "a ößüößü b"}}, 45), (Lines{"a", "ößüö", "ßü b"}));
  const auto narrow = lines_of({{TextStyle::kPlain, "abc"}}, 10);
  EXPECT_EQ(narrow, (Lines{"a", "b", "c"}));
  EXPECT_EQ(lines_of({{TextStyle::kPlain, "一二三 四"}}, 25), (Lines{"一二", "三", "四"}));
  const std::vector<state::StyledText> mixed{{TextStyle::kStrong, "ab"}, {TextStyle::kCode, "cd"}};
  EXPECT_EQ(lines_of(mixed, 32), (Lines{"abc", "d"}));
}

TEST(PlaceWords, WithoutRoomEveryCharacterHasALine) {
  for (const float width : {0.0f, -8.0f}) {
    EXPECT_EQ(place_words({{TextStyle::kPlain, "ab c"}}, width, width_of).lines, 3) << width;
  }
}

}  // namespace
}  // namespace shardlens::ui::lesson
