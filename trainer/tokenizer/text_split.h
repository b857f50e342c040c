// Dividing a text at matches, as the `tokenizers` package does. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/tokenizer/regular_expression.h"
#include "trainer/tokenizer/utf8.h"

namespace shardlens::trainer {

// What becomes of what matches.
enum class SplitBehavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

// A part of a text that matches or lies between matches.
struct MatchedRange {
  TextRange range;
  bool matches = false;
};

// Parts that cover a text, in order.
using Cover = std::vector<MatchedRange>;

// A string or a regular expression to look for.
class TextPattern {
 public:
  explicit TextPattern(RegularExpression expression) : expression_(std::move(expression)) {}
  // An empty one matches nowhere.
  explicit TextPattern(std::string literal) : literal_(std::move(literal)) {}

  // Replaces `matches`. Throws as RegularExpression::find_all does.
  void find_all(std::string_view text, std::vector<TextRange>& matches) const;

 private:
  std::string literal_;
  std::optional<RegularExpression> expression_;
};

// Replaces `cover`. Of an empty text: one empty part that does not match.
void cover_matches(std::string_view text, const std::vector<TextRange>& matches, Cover& cover);

// The same where every character for which `matches` is true is a match of its own.
template <typename Predicate>
void cover_characters(std::string_view text, Predicate&& matches, Cover& cover) {
  cover.clear();
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t character = at;
    if (!matches(next_code_point(text, at))) continue;
    if (begin < character) cover.push_back({.range = {begin, character}, .matches = false});
    cover.push_back({.range = {character, at}, .matches = true});
    begin = at;
  }
  if (begin < text.size() || text.empty()) {
    cover.push_back({.range = {begin, text.size()}, .matches = false});
  }
}

// Replaces `parts` by those that stay, in order; empty ones may be among them.
void apply_behavior(SplitBehavior behavior, const Cover& cover, std::vector<TextRange>& parts);

}  // namespace shardlens::trainer
