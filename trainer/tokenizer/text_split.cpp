#include "trainer/tokenizer/text_split.h"

#include <algorithm>

namespace shardlens::trainer {

namespace {

// A match joins the part before it, unless that one is a match, too.
void merge_with_previous(const Cover& cover, std::vector<TextRange>& parts) {
  bool previous = false;
  for (const MatchedRange& part : cover) {
    if (part.matches && !previous && !parts.empty()) {
      parts.back().end = part.range.end;
    } else {
      parts.push_back(part.range);
    }
    previous = part.matches;
  }
}

void merge_with_next(const Cover& cover, std::vector<TextRange>& parts) {
  bool previous = false;
  for (auto part = cover.rbegin(); part != cover.rend(); ++part) {
    if (part->matches && !previous && !parts.empty()) {
      parts.back().begin = part->range.begin;
    } else {
      parts.push_back(part->range);
    }
    previous = part->matches;
  }
  std::ranges::reverse(parts);
}

void merge_neighbours(const Cover& cover, std::vector<TextRange>& parts) {
  bool previous = false;
  for (const MatchedRange& part : cover) {
    if (part.matches == previous && !parts.empty()) {
      parts.back().end = part.range.end;
    } else {
      parts.push_back(part.range);
    }
    previous = part.matches;
  }
}

}  // namespace

void TextPattern::find_all(std::string_view text, std::vector<TextRange>& matches) const {
  if (expression_) return expression_->find_all(text, matches);
  matches.clear();
  if (literal_.empty()) return;
  for (std::size_t at = text.find(literal_); at != std::string_view::npos;
       at = text.find(literal_, at + literal_.size())) {
    matches.push_back({.begin = at, .end = at + literal_.size()});
  }
}

void cover_matches(std::string_view text, const std::vector<TextRange>& matches, Cover& cover) {
  cover.clear();
  if (text.empty()) {
    cover.push_back({.range = {0, 0}, .matches = false});
    return;
  }
  std::size_t at = 0;
  for (const TextRange& match : matches) {
    if (at != match.begin) cover.push_back({.range = {at, match.begin}, .matches = false});
    cover.push_back({.range = match, .matches = true});
    at = match.end;
  }
  if (at != text.size()) cover.push_back({.range = {at, text.size()}, .matches = false});
}

void apply_behavior(SplitBehavior behavior, const Cover& cover, std::vector<TextRange>& parts) {
  parts.clear();
  switch (behavior) {
    case SplitBehavior::kRemoved:
      for (const MatchedRange& part : cover) {
        if (!part.matches) parts.push_back(part.range);
      }
      return;
    case SplitBehavior::kIsolated:
      for (const MatchedRange& part : cover) parts.push_back(part.range);
      return;
    case SplitBehavior::kMergedWithPrevious:
      return merge_with_previous(cover, parts);
    case SplitBehavior::kMergedWithNext:
      return merge_with_next(cover, parts);
    case SplitBehavior::kContiguous:
      return merge_neighbours(cover, parts);
  }
}

}  // namespace shardlens::trainer
