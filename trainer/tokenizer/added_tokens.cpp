#include "trainer/tokenizer/added_tokens.h"

#include <algorithm>
#include <limits>
#include <map>

#include "trainer/tokenizer/unicode.h"
#include "trainer/tokenizer/utf8.h"

namespace shardlens::trainer {

using trace::ErrorKind;
using trace::fail;
using trace::Result;

namespace {

bool ends_with_word(std::string_view text) {
  if (text.empty()) return false;
  std::size_t at = character_before(text, text.size());
  return is_word(next_code_point(text, at));
}

bool begins_with_word(std::string_view text) {
  std::size_t at = 0;
  return !text.empty() && is_word(next_code_point(text, at));
}

std::size_t spaces_before(std::string_view text, std::size_t end) {
  while (end > 0) {
    const std::size_t begin = character_before(text, end);
    std::size_t at = begin;
    if (!is_white_space(next_code_point(text, at))) break;
    end = begin;
  }
  return end;
}

std::size_t spaces_after(std::string_view text, std::size_t begin) {
  for (std::size_t at = begin; at < text.size(); begin = at) {
    if (!is_white_space(next_code_point(text, at))) break;
  }
  return begin;
}

}  // namespace

Result<AddedToken> parse_added_token(const Definition& definition) {
  AddedToken token;
  TRY_ASSIGN(token.content, definition.text("content"));
  TRY_ASSIGN(token.single_word, definition.flag_or("single_word", false));
  TRY_ASSIGN(token.strip_left, definition.flag_or("lstrip", false));
  TRY_ASSIGN(token.strip_right, definition.flag_or("rstrip", false));
  TRY_ASSIGN(token.special, definition.flag_or("special", false));
  TRY_ASSIGN(token.normalized, definition.flag_or("normalized", !token.special));
  return token;
}

TokenId AddedTokens::add(const AddedToken& token, const Vocabulary& model, TokenId& next) {
  TokenId id = kNoToken;
  if (const auto known = ids_.find(token.content); known != ids_.end()) {
    id = known->second;
  } else if (const auto in_model = model.find(token.content)) {
    id = *in_model;
  } else {
    id = next++;
  }
  ids_[token.content] = id;
  if (token.special) special_.insert(token.content);
  entries_[id] = {.token = token, .shown = token.content};
  largest_ = std::max(largest_, id);
  return id;
}

Result<AddedTokens> AddedTokens::make(const std::vector<AddedToken>& tokens,
                                      const Vocabulary& model, const TextNormalizer* normalizer) {
  AddedTokens made;
  const std::size_t most = std::numeric_limits<TokenId>::max();
  if (model.size() + tokens.size() > most) return fail(ErrorKind::kDamaged, "too many tokens");
  auto next = static_cast<TokenId>(model.size());
  for (const AddedToken& token : tokens) {
    if (!token.content.empty()) made.add(token, model, next);
  }
  // By id, so that the error below is the same every time.
  for (const auto& [id, entry] : std::map(made.entries_.begin(), made.entries_.end())) {
    Entry& kept = made.entries_.at(id);
    if (entry.token.normalized && normalizer != nullptr) {
      NormalizedText text{.text = entry.token.content, .limit = grow_limit(entry.shown.size())};
      normalizer->normalize(text);
      kept.shown = std::move(text.text);
    }
    if (!(entry.token.normalized ? made.normalized_ : made.raw_).add(kept.shown, id)) {
      return fail(ErrorKind::kDamaged, "added_tokens: two of them look like '" +
                                           kept.shown.substr(0, 60) + "' once normalized");
    }
  }
  return made;
}

void AddedTokens::divide(const TokenTrie& trie, const TextPiece& piece, TextPieces& pieces) const {
  if (trie.empty()) return pieces.add(piece);
  const std::string_view text = piece.text;
  std::size_t done = 0;  // up to here pieces were added
  for (auto found = trie.find(text, 0); found; found = trie.find(text, found->range.end)) {
    auto [begin, end] = found->range;
    const AddedToken& token = entries_.at(found->token).token;
    if (token.single_word &&
        (ends_with_word(text.substr(0, begin)) || begins_with_word(text.substr(end)))) {
      continue;
    }
    if (token.strip_left) begin = std::max(spaces_before(text, begin), done);
    if (token.strip_right) end = spaces_after(text, end);
    if (done < begin) pieces.add(piece.part({done, begin}));
    pieces.add({.text = text.substr(begin, end - begin), .token = found->token});
    done = end;
  }
  if (done != text.size()) pieces.add(piece.part({done, text.size()}));
}

std::optional<TokenId> AddedTokens::find(std::string_view content) const {
  const auto found = ids_.find(std::string(content));
  if (found == ids_.end()) return {};
  return found->second;
}

std::optional<std::string_view> AddedTokens::token_of(TokenId id) const {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return {};
  return found->second.shown;
}

}  // namespace shardlens::trainer
