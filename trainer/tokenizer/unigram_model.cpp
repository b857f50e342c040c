#include "trainer/tokenizer/unigram_model.h"

#include <algorithm>
#include <cstdio>

#include "trainer/tokenizer/utf8.h"

namespace shardlens::trainer {

using trace::ErrorKind;
using trace::fail;
using trace::Result;

namespace {

// An unknown character is this much less likely than the rarest token (SentencePiece's
// kUnkPenalty).
constexpr double kUnknownPenalty = 10;

constexpr TokenId kNone = -1;

}  // namespace

UnigramModel::UnigramModel(Vocabulary vocabulary, std::vector<double> scores, TokenId unknown,
                           bool byte_fallback)
    : TokenModel(std::move(vocabulary)),
      scores_(std::move(scores)),
      unknown_(unknown),
      unknown_score_(std::ranges::min(scores_) - kUnknownPenalty),
      byte_fallback_(byte_fallback) {
  index();
}

Result<std::unique_ptr<TokenModel>> UnigramModel::parse(const Definition& definition) {
  TRY_ASSIGN(const Definition list, definition.at("vocab"));
  TRY_ASSIGN(const std::vector<Definition> items, list.items());
  Vocabulary vocabulary;
  std::vector<double> scores;
  for (const Definition& item : items) {
    TRY_ASSIGN(const std::vector<Definition> pair, item.items());
    if (pair.size() != 2) return item.error("is no pair of a token and its score");
    TRY_ASSIGN(const std::string_view token, pair[0].text());
    TRY_ASSIGN(const double score, pair[1].number());
    vocabulary.add(token, static_cast<TokenId>(scores.size()));
    scores.push_back(score);
  }
  TRY_ASSIGN(const bool byte_fallback, definition.flag_or("byte_fallback", false));
  const auto unknown_at = definition.find("unk_id");
  if (!unknown_at) {
    return fail(ErrorKind::kUsage, definition.place() +
                                       ": a Unigram model without unk_id cannot tokenize every "
                                       "text, which is not supported");
  }
  TRY_ASSIGN(const TokenId unknown, unknown_at->id());
  if (static_cast<std::size_t>(unknown) >= scores.size()) {
    return unknown_at->error("is not in the vocabulary");
  }
  return std::unique_ptr<TokenModel>(
      new UnigramModel(std::move(vocabulary), std::move(scores), unknown, byte_fallback));
}

void UnigramModel::index() {
  token_at_.assign(1, kNone);
  vocabulary().each([&](std::string_view token, TokenId id) {
    std::uint32_t node = 0;
    for (const char c : token) {
      const std::uint64_t key = std::uint64_t{node} << 8 | static_cast<unsigned char>(c);
      const auto [at, added] = next_.try_emplace(key, static_cast<std::uint32_t>(token_at_.size()));
      if (added) token_at_.push_back(kNone);
      node = at->second;
    }
    if (node != 0) token_at_[node] = id;
  });
}

// Tries every token that begins at `begin`, which the best path reaches.
void UnigramModel::score_from(std::string_view word, std::size_t begin,
                              ModelScratch& scratch) const {
  const double here = scratch.nodes[begin].score;
  const std::size_t character = utf8_length(word[begin]);
  const auto offer = [&](std::size_t end, double score, TokenId token) {
    ModelScratch::Node& node = scratch.nodes[end];
    if (!node.reached || score + here > node.score) {
      node = {.score = score + here, .begin = begin, .token = token, .reached = true};
    }
  };
  bool single = false;
  std::uint64_t node = 0;
  for (std::size_t at = begin; at < word.size(); ++at) {
    const auto next = next_.find(node << 8 | static_cast<unsigned char>(word[at]));
    if (next == next_.end()) break;
    node = next->second;
    const TokenId token = token_at_[node];
    if (token == kNone) continue;
    offer(at + 1, scores_[static_cast<std::size_t>(token)], token);
    single = single || at + 1 == begin + character;
  }
  if (!single) offer(begin + character, unknown_score_, unknown_);
}

void UnigramModel::add_unknown(std::string_view part, std::vector<TokenId>& tokens) const {
  // A run of unknown characters may be spelled like a token.
  if (const auto token = vocabulary().find(part)) return tokens.push_back(*token);
  const std::size_t before = tokens.size();
  for (std::size_t i = 0; byte_fallback_ && i < part.size(); ++i) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned char>(part[i]));
    const auto byte = vocabulary().find(name);
    if (!byte) {
      tokens.resize(before);
      break;
    }
    tokens.push_back(*byte);
  }
  if (tokens.size() == before) tokens.push_back(unknown_);
}

void UnigramModel::tokenize(std::string_view word, ModelScratch& scratch,
                            std::vector<TokenId>& tokens) const {
  auto& nodes = scratch.nodes;
  nodes.assign(word.size() + 1, {});
  for (std::size_t at = 0; at < word.size(); at += utf8_length(word[at])) {
    score_from(word, at, scratch);
  }
  // From the end back; what is kept are the ends of tokens.
  std::vector<std::size_t>& ends = scratch.ends;
  ends.clear();
  for (std::size_t end = word.size(); end > 0; end = nodes[end].begin) ends.push_back(end);
  // Neighbours that are unknown become one.
  std::size_t known_end = 0;
  for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
    const ModelScratch::Node& node = nodes[*end];
    if (node.token == unknown_) continue;
    if (known_end < node.begin) {
      add_unknown(word.substr(known_end, node.begin - known_end), tokens);
    }
    tokens.push_back(node.token);
    known_end = *end;
  }
  if (known_end < word.size()) add_unknown(word.substr(known_end), tokens);
}

}  // namespace shardlens::trainer
