// A token for each word that has one, and one for all others. Any thread, once made.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "trainer/tokenizer/token_model.h"

namespace shardlens::trainer {

class WordLevelModel final : public TokenModel {
 public:
  static trace::Result<std::unique_ptr<TokenModel>> parse(const Definition& definition);

  void tokenize(std::string_view word, ModelScratch& scratch,
                std::vector<TokenId>& tokens) const override;

 private:
  WordLevelModel(Vocabulary vocabulary, TokenId unknown)
      : TokenModel(std::move(vocabulary)), unknown_(unknown) {}

  TokenId unknown_;
};

}  // namespace shardlens::trainer
