#include "trainer/tokenizer/byte_pair_model.h"

#include <algorithm>
#include <cstdio>

#include "trainer/tokenizer/utf8.h"

namespace shardlens::trainer {

using trace::ErrorKind;
using trace::fail;
using trace::Result;

namespace {

using Merge = ModelScratch::Merge;
using Symbol = ModelScratch::Symbol;

// Of a heap whose front is the merge of the lowest rank, the leftmost of those.
bool comes_later(const Merge& a, const Merge& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.at > b.at;
}

void add_symbol(TokenId token, std::vector<Symbol>& symbols) {
  const auto at = static_cast<std::int32_t>(symbols.size());
  if (at > 0) symbols.back().next = at;
  symbols.push_back({.token = token, .previous = at - 1});
}

std::string in_quotes(std::string_view token) {
  return "'" + std::string(token.substr(0, 60)) + "'";
}

// Both forms: "a b" and ["a", "b"].
Result<std::pair<std::string_view, std::string_view>> parse_merge(const Definition& definition) {
  if (definition.is_array()) {
    TRY_ASSIGN(const std::vector<Definition> pair, definition.items());
    if (pair.size() != 2) return definition.error("is no pair of tokens");
    TRY_ASSIGN(const std::string_view left, pair[0].text());
    TRY_ASSIGN(const std::string_view right, pair[1].text());
    return std::pair(left, right);
  }
  TRY_ASSIGN(const std::string_view merge, definition.text());
  const std::size_t space = merge.find(' ');
  if (space == std::string_view::npos || merge.find(' ', space + 1) != std::string_view::npos) {
    return definition.error("is no pair of tokens with one space between: " + in_quotes(merge));
  }
  return std::pair(merge.substr(0, space), merge.substr(space + 1));
}

Result<BytePairModel::Merges> parse_merges(const Definition& definition) {
  TRY_ASSIGN(const std::vector<Definition> items, definition.items());
  BytePairModel::Merges merges;
  merges.reserve(items.size());
  for (const Definition& item : items) {
    std::string_view text;
    if (item.value().get(text) == simdjson::SUCCESS && text.starts_with("#version")) continue;
    TRY_ASSIGN(const auto merge, parse_merge(item));
    merges.push_back(merge);
  }
  return merges;
}

}  // namespace

BytePairModel::BytePairModel(BytePairOptions options, Vocabulary vocabulary, std::size_t merges)
    : TokenModel(std::move(vocabulary)), options_(std::move(options)), merges_(merges) {
  if (options_.unknown) unknown_ = this->vocabulary().find(*options_.unknown).value_or(-1);
  index_characters();
}

Result<std::unique_ptr<TokenModel>> BytePairModel::make(BytePairOptions options,
                                                        Vocabulary vocabulary,
                                                        const Merges& merges) {
  std::unique_ptr<BytePairModel> model(
      new BytePairModel(std::move(options), std::move(vocabulary), merges.size()));
  std::uint32_t rank = 0;
  for (const auto& [left, right] : merges) TRY(model->add_merge(left, right, rank++));
  return model;
}

Result<std::unique_ptr<TokenModel>> BytePairModel::parse(const Definition& definition) {
  BytePairOptions options;
  if (const auto dropout = definition.find("dropout")) {
    TRY_ASSIGN(const double probability, dropout->number());
    if (probability != 0) {
      return fail(ErrorKind::kUsage, dropout->place() + " is " + std::to_string(probability) +
                                         ": tokens would differ from run to run, which is not "
                                         "supported. Set it to null.");
    }
  }
  if (const auto unknown = definition.find("unk_token")) {
    TRY_ASSIGN(options.unknown, unknown->text());
  }
  TRY_ASSIGN(options.continuing_prefix, definition.text_or("continuing_subword_prefix", ""));
  TRY_ASSIGN(options.end_suffix, definition.text_or("end_of_word_suffix", ""));
  TRY_ASSIGN(options.fuse_unknown, definition.flag_or("fuse_unk", false));
  TRY_ASSIGN(options.byte_fallback, definition.flag_or("byte_fallback", false));
  TRY_ASSIGN(options.ignore_merges, definition.flag_or("ignore_merges", false));
  TRY_ASSIGN(const Definition tokens, definition.at("vocab"));
  TRY_ASSIGN(Vocabulary vocabulary, Vocabulary::parse(tokens));
  TRY_ASSIGN(const Definition list, definition.at("merges"));
  TRY_ASSIGN(const Merges merges, parse_merges(list));
  return make(std::move(options), std::move(vocabulary), merges);
}

Result<void> BytePairModel::add_merge(std::string_view left, std::string_view right,
                                      std::uint32_t rank) {
  const auto refuse = [&](const std::string& problem) {
    return fail(ErrorKind::kDamaged, "merge " + std::to_string(rank) + " (" + in_quotes(left) +
                                         " with " + in_quotes(right) + "): " + problem);
  };
  const std::string& prefix = options_.continuing_prefix;
  if (right.size() < prefix.size()) {
    return refuse("the second does not begin with " + in_quotes(prefix));
  }
  const std::string made = std::string(left).append(right.substr(prefix.size()));
  const auto left_id = vocabulary().find(left), right_id = vocabulary().find(right);
  const auto made_id = vocabulary().find(made);
  if (!left_id || !right_id || !made_id) {
    const std::string_view missing = !left_id ? left : !right_id ? right : made;
    return refuse(in_quotes(missing) + " is not in the vocabulary");
  }
  merges_.set(*left_id, *right_id, {.rank = rank, .made = *made_id});
  return {};
}

void BytePairModel::index_characters() {
  characters_.fill(-1);
  bytes_.fill(-1);
  for (char32_t c = 0; c < characters_.size(); ++c) {
    std::string character;
    append_utf8(c, character);
    characters_[c] = vocabulary().find(character).value_or(-1);
  }
  if (!options_.byte_fallback) return;
  for (unsigned byte = 0; byte < bytes_.size(); ++byte) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", byte);
    bytes_[byte] = vocabulary().find(name).value_or(-1);
  }
}

// The token of one character in its place, and in scratch.text how it is spelled there; -1: none.
TokenId BytePairModel::symbol_of(std::string_view word, std::size_t begin, std::size_t end,
                                 ModelScratch& scratch) const {
  const bool first = begin == 0, last = end == word.size();
  const std::string_view prefix = first ? "" : std::string_view(options_.continuing_prefix);
  const std::string_view suffix = last ? std::string_view(options_.end_suffix) : "";
  if (prefix.empty() && suffix.empty()) {
    std::size_t at = begin;
    const char32_t c = next_code_point(word, at);
    if (c < characters_.size() && characters_[c] >= 0) return characters_[c];
  }
  scratch.text.assign(prefix).append(word.substr(begin, end - begin)).append(suffix);
  return vocabulary().find(scratch.text).value_or(-1);
}

bool BytePairModel::add_bytes(std::string_view symbol, ModelScratch& scratch) const {
  const auto token = [&](char byte) { return bytes_[static_cast<unsigned char>(byte)]; };
  if (!options_.byte_fallback) return false;
  if (!std::ranges::all_of(symbol, [&](char byte) { return token(byte) >= 0; })) return false;
  for (const char byte : symbol) add_symbol(token(byte), scratch.symbols);
  return true;
}

void BytePairModel::divide(std::string_view word, ModelScratch& scratch) const {
  scratch.symbols.clear();
  bool unknown = false;  // one is still to be added
  for (std::size_t begin = 0; begin < word.size();) {
    const std::size_t end = begin + utf8_length(word[begin]);
    const TokenId token = symbol_of(word, begin, end, scratch);
    begin = end;
    if (token >= 0) {
      if (unknown) add_symbol(unknown_, scratch.symbols);
      unknown = false;
      add_symbol(token, scratch.symbols);
    } else if (!add_bytes(scratch.text, scratch) && unknown_ >= 0) {
      // An unknown character waits for the next known one; bytes overtake it, as in the package.
      if (unknown && !options_.fuse_unknown) add_symbol(unknown_, scratch.symbols);
      unknown = true;
    }
  }
  if (unknown) add_symbol(unknown_, scratch.symbols);
}

void BytePairModel::queue_merge(std::int32_t at, ModelScratch& scratch) const {
  const Symbol& left = scratch.symbols[static_cast<std::size_t>(at)];
  const Symbol& right = scratch.symbols[static_cast<std::size_t>(left.next)];
  const MergeRule* rule = merges_.find(left.token, right.token);
  if (rule == nullptr) return;
  scratch.queue.push_back({.rank = rule->rank, .at = at, .made = rule->made});
  std::ranges::push_heap(scratch.queue, comes_later);
}

void BytePairModel::merge_all(ModelScratch& scratch) const {
  std::vector<Symbol>& symbols = scratch.symbols;
  std::vector<Merge>& queue = scratch.queue;
  queue.clear();
  for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
    queue_merge(static_cast<std::int32_t>(i), scratch);
  }
  while (!queue.empty()) {
    std::ranges::pop_heap(queue, comes_later);
    const Merge merge = queue.back();
    queue.pop_back();
    Symbol& left = symbols[static_cast<std::size_t>(merge.at)];
    if (left.merged || left.next < 0) continue;
    Symbol& right = symbols[static_cast<std::size_t>(left.next)];
    // Either may have grown since it was queued.
    const MergeRule* rule = merges_.find(left.token, right.token);
    if (rule == nullptr || rule->made != merge.made) continue;
    left.token = merge.made;
    left.next = right.next;
    right.merged = true;
    if (left.next >= 0) symbols[static_cast<std::size_t>(left.next)].previous = merge.at;
    if (left.previous >= 0) queue_merge(left.previous, scratch);
    if (left.next >= 0) queue_merge(merge.at, scratch);
  }
}

void BytePairModel::tokenize(std::string_view word, ModelScratch& scratch,
                             std::vector<TokenId>& tokens) const {
  if (options_.ignore_merges) {
    if (const auto whole = vocabulary().find(word)) return tokens.push_back(*whole);
  }
  divide(word, scratch);
  merge_all(scratch);
  for (const Symbol& symbol : scratch.symbols) {
    if (!symbol.merged) tokens.push_back(symbol.token);
  }
}

}  // namespace shardlens::trainer
