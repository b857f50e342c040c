// SentencePiece's unigram language model (Kudo 2018): the division of a word whose tokens are the
// likeliest. Any thread, once made.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trainer/tokenizer/token_model.h"

namespace shardlens::trainer {

class UnigramModel final : public TokenModel {
 public:
  static trace::Result<std::unique_ptr<TokenModel>> parse(const Definition& definition);

  void tokenize(std::string_view word, ModelScratch& scratch,
                std::vector<TokenId>& tokens) const override;

 private:
  UnigramModel(Vocabulary vocabulary, std::vector<double> scores, TokenId unknown,
               bool byte_fallback);

  void index();
  void score_from(std::string_view word, std::size_t begin, ModelScratch& scratch) const;
  void add_unknown(std::string_view part, std::vector<TokenId>& tokens) const;

  std::vector<double> scores_;  // by id
  TokenId unknown_;
  double unknown_score_;
  bool byte_fallback_;
  // A trie over bytes: (node << 8 | byte) -> next node, and the token that ends in a node.
  std::unordered_map<std::uint64_t, std::uint32_t> next_;
  std::vector<TokenId> token_at_;
};

}  // namespace shardlens::trainer
