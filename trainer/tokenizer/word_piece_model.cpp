#include "trainer/tokenizer/word_piece_model.h"

#include <functional>
#include <set>

#include "trainer/tokenizer/utf8.h"

namespace shardlens::trainer {

using trace::ErrorKind;
using trace::fail;
using trace::Result;

namespace {

Result<TokenId> unknown_in(const Vocabulary& vocabulary, const std::string& token) {
  if (const auto id = vocabulary.find(token)) return *id;
  return fail(ErrorKind::kDamaged, "the token for unknown words, '" + token.substr(0, 60) +
                                       "', is not in the vocabulary");
}

}  // namespace

WordPieceModel::WordPieceModel(WordPieceOptions options, Vocabulary vocabulary, TokenId unknown)
    : options_(std::move(options)), vocabulary_(std::move(vocabulary)), unknown_(unknown) {
  std::set<std::size_t, std::greater<>> first, continuing;
  const std::string& prefix = options_.continuing_prefix;
  vocabulary_.each([&](std::string_view token, TokenId) {
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
  TRY_ASSIGN(const TokenId unknown, unknown_in(vocabulary, options.unknown));
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
    if (const auto found = vocabulary_.find(part)) {
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

Result<std::unique_ptr<TokenModel>> WordLevelModel::parse(const Definition& definition) {
  TRY_ASSIGN(const std::string_view unknown, definition.text("unk_token"));
  TRY_ASSIGN(const Definition tokens, definition.at("vocab"));
  TRY_ASSIGN(Vocabulary vocabulary, Vocabulary::parse(tokens));
  TRY_ASSIGN(const TokenId id, unknown_in(vocabulary, std::string(unknown)));
  return std::unique_ptr<TokenModel>(new WordLevelModel(std::move(vocabulary), id));
}

void WordLevelModel::tokenize(std::string_view word, ModelScratch&,
                              std::vector<TokenId>& tokens) const {
  tokens.push_back(vocabulary_.find(word).value_or(unknown_));
}

}  // namespace shardlens::trainer
