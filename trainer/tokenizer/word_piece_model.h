// WordPiece, as BERT uses it: the longest token that begins the word, then the longest that
// continues it, and so on. Any thread, once made.
#pragma once

#include <string>
#include <vector>

#include "trainer/tokenizer/token_model.h"

namespace shardlens::trainer {

struct WordPieceOptions {
  std::string unknown = "[UNK]";
  std::string continuing_prefix = "##";
  std::uint64_t longest_word = 100;  // in characters; longer ones are unknown
};

class WordPieceModel final : public TokenModel {
 public:
  // kDamaged if the token for unknown words is not in the vocabulary.
  static trace::Result<std::unique_ptr<TokenModel>> make(WordPieceOptions options,
                                                         Vocabulary vocabulary);
  static trace::Result<std::unique_ptr<TokenModel>> parse(const Definition& definition);

  void tokenize(std::string_view word, ModelScratch& scratch,
                std::vector<TokenId>& tokens) const override;

 private:
  WordPieceModel(WordPieceOptions options, Vocabulary vocabulary, TokenId unknown);
  std::size_t longest_match(std::string_view rest, bool first, ModelScratch& scratch,
                            TokenId& token) const;

  WordPieceOptions options_;
  TokenId unknown_;
  // Lengths in bytes that tokens have, the longest first: no others need be tried.
  std::vector<std::size_t> first_lengths_, continuing_lengths_;
};

}  // namespace shardlens::trainer
