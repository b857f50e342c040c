// Tokens that are found in the text before anything else is done to it: special ones, such as </s>,
// and those added to a model after its training. Any thread, once made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "trainer/tokenizer/text_normalizer.h"
#include "trainer/tokenizer/text_pieces.h"
#include "trainer/tokenizer/token_trie.h"
#include "trainer/tokenizer/vocabulary.h"

namespace shardlens::trainer {

struct AddedToken {
  std::string content;
  bool single_word = false;  // not where a letter or digit touches it
  bool strip_left = false;   // takes the spaces before it along
  bool strip_right = false;
  bool normalized = true;  // looked for, in its normalized form, in the normalized text
  bool special = false;    // left out of what decode() gives if asked to

  friend bool operator==(const AddedToken&, const AddedToken&) = default;
};

// Of an object with all of these fields and "content".
trace::Result<AddedToken> parse_added_token(const Definition& definition);

class AddedTokens {
 public:
  // Tokens that the model knows keep the model's ids; others get those that follow the vocabulary's
  // size, in order, whatever ids the file tells: so does the `tokenizers` package.
  // `normalizer` may be null. Errors: kDamaged for two that look the same.
  static trace::Result<AddedTokens> make(const std::vector<AddedToken>& tokens,
                                         const Vocabulary& model, const TextNormalizer* normalizer);

  // Both add pieces for one part of a document, which begins `from_start` bytes of it deep (see
  // NormalizedText): one before normalization, one after it.
  void divide_raw(const TextPiece& piece, TextPieces& pieces) const { divide(raw_, piece, pieces); }
  void divide_normalized(const TextPiece& piece, TextPieces& pieces) const {
    divide(normalized_, piece, pieces);
  }

  std::optional<TokenId> find(std::string_view content) const;
  // What decode() starts from.
  std::optional<std::string_view> token_of(TokenId id) const;
  bool is_special(std::string_view token) const { return special_.contains(std::string(token)); }
  TokenId largest_id() const { return largest_; }  // -1: none

 private:
  struct Entry {
    AddedToken token;
    std::string shown;  // normalized, if it is
  };

  void divide(const TokenTrie& trie, const TextPiece& piece, TextPieces& pieces) const;
  TokenId add(const AddedToken& token, const Vocabulary& model, TokenId& next);

  std::unordered_map<std::string, TokenId> ids_;
  std::unordered_map<TokenId, Entry> entries_;
  std::unordered_set<std::string> special_;
  TokenTrie raw_, normalized_;
  TokenId largest_ = -1;
};

}  // namespace shardlens::trainer
