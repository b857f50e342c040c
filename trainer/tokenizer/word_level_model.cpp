#include "trainer/tokenizer/word_level_model.h"

namespace shardlens::trainer {

using trace::Result;

Result<std::unique_ptr<TokenModel>> WordLevelModel::parse(const Definition& definition) {
  TRY_ASSIGN(const std::string_view unknown, definition.text("unk_token"));
  TRY_ASSIGN(const Definition tokens, definition.at("vocab"));
  TRY_ASSIGN(Vocabulary vocabulary, Vocabulary::parse(tokens));
  TRY_ASSIGN(const TokenId id, vocabulary.unknown(unknown));
  return std::unique_ptr<TokenModel>(new WordLevelModel(std::move(vocabulary), id));
}

void WordLevelModel::tokenize(std::string_view word, ModelScratch&,
                              std::vector<TokenId>& tokens) const {
  tokens.push_back(vocabulary().find(word).value_or(unknown_));
}

}  // namespace shardlens::trainer
