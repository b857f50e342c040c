// A tokenizer small enough to follow by hand. For tests.
#pragma once

#include <string>
#include <vector>

#include "trainer/tokenizer/tokenizer.h"

namespace shardlens::trainer {

// Each letter is its byte; "ab" in a row merges to one token. With special tokens a text begins
// with 300 and ends with `tail` where that is set.
class LetterTokenizer final : public Tokenizer {
 public:
  static constexpr TokenId kBegin = 300, kAb = 301, kEnd = 302, kTail = 303, kPadding = 304;
  explicit LetterTokenizer(bool has_tail = false) : has_tail_(has_tail) {}

  void encode(std::string_view text, bool add_special_tokens,
              std::vector<TokenId>& tokens) const override {
    if (add_special_tokens) tokens.push_back(kBegin);
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool merges = text.substr(i, 2) == "ab";
      tokens.push_back(merges ? kAb : static_cast<unsigned char>(text[i]));
      if (merges) ++i;
    }
    if (add_special_tokens && has_tail_) tokens.push_back(kTail);
  }
  std::string decode(std::span<const TokenId>, bool) const override { return {}; }
  std::int64_t vocabulary() const override { return 305; }
  std::optional<TokenId> id_of(std::string_view) const override { return std::nullopt; }
  std::optional<TokenId> end_of_text() const override { return kEnd; }
  std::optional<TokenId> padding() const override { return kPadding; }
  std::string fingerprint() const override { return has_tail_ ? "letters, tail" : "letters"; }

 private:
  bool has_tail_;
};

}  // namespace shardlens::trainer
