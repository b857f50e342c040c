#include "trainer/tokenizer/text_split.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "trainer/tokenizer/regular_expression.h"

namespace shardlens::trainer {
namespace {

std::vector<std::string> split(std::string_view text, std::string_view pattern,
                               SplitBehavior behavior, bool invert = false) {
  const TextPattern expression(RegularExpression::compile(pattern).value());
  std::vector<TextRange> matches, parts;
  Cover cover;
  expression.find_all(text, matches);
  cover_matches(text, matches, cover);
  for (MatchedRange& part : cover) part.matches = part.matches != invert;
  apply_behavior(behavior, cover, parts);
  std::vector<std::string> texts;
  for (const TextRange& part : parts)
    texts.emplace_back(text.substr(part.begin, part.end - part.begin));
  return texts;
}

using Texts = std::vector<std::string>;

// The table in the package's documentation of Split.
TEST(TextSplit, WhatBecomesOfMatches) {
  constexpr std::string_view text = "the-final--countdown";
  EXPECT_EQ(split(text, "-", SplitBehavior::kRemoved), (Texts{"the", "final", "countdown"}));
  EXPECT_EQ(split(text, "-", SplitBehavior::kIsolated),
            (Texts{"the", "-", "final", "-", "-", "countdown"}));
  EXPECT_EQ(split(text, "-", SplitBehavior::kMergedWithPrevious),
            (Texts{"the-", "final-", "-", "countdown"}));
  EXPECT_EQ(split(text, "-", SplitBehavior::kMergedWithNext),
            (Texts{"the", "-final", "-", "-countdown"}));
  EXPECT_EQ(split(text, "-", SplitBehavior::kContiguous),
            (Texts{"the", "-", "final", "--", "countdown"}));
  EXPECT_EQ(split(text, "[a-z]+", SplitBehavior::kRemoved, true),
            (Texts{"the", "final", "countdown"}));
}

TEST(TextSplit, CharactersThatMatchAreMatchesOfTheirOwn) {
  Cover cover;
  cover_characters(
      "aé!!b", [](char32_t c) { return c == '!'; }, cover);
  ASSERT_EQ(cover.size(), 4u);
  EXPECT_EQ(cover[0].range.end, 3u);
  EXPECT_TRUE(cover[1].matches && cover[2].matches);
  cover_characters(
      "", [](char32_t) { return true; }, cover);
  ASSERT_EQ(cover.size(), 1u);
  EXPECT_FALSE(cover[0].matches);
}

TEST(RegularExpression, EmptyMatchesDoNotFollowAnother) {
  std::vector<TextRange> matches;
  RegularExpression::compile("x*").value().find_all("axé", matches);
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (const TextRange& match : matches) found.emplace_back(match.begin, match.end);
  EXPECT_EQ(found, (std::vector<std::pair<std::size_t, std::size_t>>{{0, 0}, {1, 2}, {4, 4}}));
}

TEST(RegularExpression, ABadOneIsShown) {
  const auto bad = RegularExpression::compile("(a");
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().message.find("'(a'"), std::string::npos) << bad.error().message;
  EXPECT_FALSE(RegularExpression::compile(std::string(70'000, 'a')));
  EXPECT_FALSE(RegularExpression::compile(std::string(60'000, '(') + std::string(60'000, ')')));
}

TEST(RegularExpression, OneThatNeverEndsGivesUp) {
  const auto expression = RegularExpression::compile("(a+)+$").value();
  std::vector<TextRange> matches;
  EXPECT_THROW(expression.find_all(std::string(64, 'a') + "b", matches), std::runtime_error);
  // A long run of spaces is no reason to give up.
  const auto words = RegularExpression::compile(R"(\s*[\r\n]+|\s+(?!\S)|\s+|\S+)").value();
  EXPECT_NO_THROW(words.find_all(std::string(200'000, ' ') + "b", matches));
  EXPECT_EQ(matches.size(), 3u);
}

}  // namespace
}  // namespace shardlens::trainer
