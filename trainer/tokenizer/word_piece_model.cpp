#include "trainer/tokenizer/word_piece_model.h"

#include <functional>
#include <set>

#include "trainer/tokenizer/utf8.h"

namespace shardlens::trainer {

using trace::Result;

WordPieceModel::WordPieceModel(WordPieceOptions options, Vocabulary vocabulary, TokenId unknown)
    : TokenModel(std::move(vocabulary)), options_(std::move(options)), unknown_(unknown) {
  std::set<std::size_t, std::greater<>> first, continuing;
  const std::string& prefix = options_.continuing_prefix;
  this->vocabulary().each([&](std::string_view token, TokenId) {
    if (!token.empty()) first.insert(token.size());
    if (token.size() > prefix.size() && token.starts_with(prefix)) {
      continuing.insert(token.size() - prefix.size());
    }
  });
  first_lengths_.assign(first.begin(), first.end());
  continuing_lengths_.assign(continuing.begin(), continuing.end());
}

Result<std::unique_ptr<TokenModel>> WordPieceModel::make(WordPieceOptions options,
                                                         Vocabulary vocabulary) {
  TRY_ASSIGN(const TokenId unknown, vocabulary.unknown(options.unknown));
  return std::unique_ptr<TokenModel>(
      new WordPieceModel(std::move(options), std::move(vocabulary), unknown));
}

Result<std::unique_ptr<TokenModel>> WordPieceModel::parse(const Definition& definition) {
  WordPieceOptions options;
  TRY_ASSIGN(options.unknown, definition.text("unk_token"));
  TRY_ASSIGN(options.continuing_prefix, definition.text("continuing_subword_prefix"));
  TRY_ASSIGN(const Definition longest, definition.at("max_input_chars_per_word"));
  TRY_ASSIGN(options.longest_word, longest.count());
  TRY_ASSIGN(const Definition tokens, definition.at("vocab"));
  TRY_ASSIGN(Vocabulary vocabulary, Vocabulary::parse(tokens));
  return make(std::move(options), std::move(vocabulary));
}

// Bytes of `rest` that the longest token takes, 0 if none does.
std::size_t WordPieceModel::longest_match(std::string_view rest, bool first, ModelScratch& scratch,
                                          TokenId& token) const {
  for (const std::size_t length : first ? first_lengths_ : continuing_lengths_) {
    if (length > rest.size()) continue;
    std::string_view part = rest.substr(0, length);
    if (!first) {
      scratch.text.assign(options_.continuing_prefix).append(part);
      part = scratch.text;
    }
    if (const auto found = vocabulary().find(part)) {
      token = *found;
      return length;
    }
  }
  return 0;
}

void WordPieceModel::tokenize(std::string_view word, ModelScratch& scratch,
                              std::vector<TokenId>& tokens) const {
  if (count_characters(word) > options_.longest_word) return tokens.push_back(unknown_);
  const std::size_t before = tokens.size();
  for (std::size_t at = 0; at < word.size();) {
    TokenId token = 0;
    const std::size_t length = longest_match(word.substr(at), at == 0, scratch, token);
    if (length == 0) {
      tokens.resize(before);
      return tokens.push_back(unknown_);
    }
    tokens.push_back(token);
    at += length;
  }
}

}  // namespace shardlens::trainer
