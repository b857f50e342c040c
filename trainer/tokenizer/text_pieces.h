// A text on its way to tokens: pieces that are still text and pieces that are already a token. One
// thread.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/tokenizer/text_split.h"
#include "trainer/tokenizer/tokenizer.h"

namespace shardlens::trainer {

inline constexpr TokenId kNoToken = -1;

struct TextPiece {
  std::string_view text;
  std::size_t from_start = 0;  // as in NormalizedText
  TokenId token = kNoToken;    // what it already is

  TextPiece part(const TextRange& range) const {
    const std::size_t length = range.end - range.begin;
    const std::size_t beyond = from_start > range.begin ? from_start - range.begin : 0;
    return {.text = text.substr(range.begin, length), .from_start = std::min(beyond, length)};
  }
};

// The pieces of one text and what dividing them needs, kept to be used again.
class TextPieces {
 public:
  const std::vector<TextPiece>& all() const { return pieces_; }

  void clear() {
    pieces_.clear();
    stored_.clear();
  }

  // Empty pieces are left out.
  void add(const TextPiece& piece) {
    if (!piece.text.empty() || piece.token != kNoToken) pieces_.push_back(piece);
  }

  // A place for text that pieces refer to.
  std::string_view store(std::string text) { return stored_.emplace_back(std::move(text)); }

  // Calls divide(piece) for each piece that is text; it adds what comes in its place.
  template <typename Divide>
  void divide(Divide&& divide) {
    before_.swap(pieces_);
    pieces_.clear();
    for (const TextPiece& piece : before_) {
      if (piece.token != kNoToken) {
        pieces_.push_back(piece);
      } else {
        divide(piece);
      }
    }
  }

  // Adds the parts of `piece` that stay, of those that `cover` holds.
  void add_parts(const TextPiece& piece, SplitBehavior behavior) {
    apply_behavior(behavior, cover, parts_);
    for (const TextRange& part : parts_) add(piece.part(part));
  }

  // Scratch for whoever divides.
  std::vector<TextRange> matches;
  Cover cover;

 private:
  std::vector<TextPiece> pieces_, before_;
  std::deque<std::string> stored_;
  std::vector<TextRange> parts_;
};

}  // namespace shardlens::trainer
