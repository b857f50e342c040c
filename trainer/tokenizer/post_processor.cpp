#include "trainer/tokenizer/post_processor.h"

#include <algorithm>

namespace shardlens::trainer {

using trace::ErrorKind;
using trace::fail;
using trace::Result;

namespace {

// ["[CLS]", 101]
Result<TokenId> parse_named_id(const Definition& definition) {
  TRY_ASSIGN(const std::vector<Definition> pair, definition.items());
  if (pair.size() != 2) return definition.error("is no pair of a token and its id");
  return pair[1].id();
}

Result<std::vector<TokenId>> ids_of_special(const Definition& definition, std::string_view name) {
  TRY_ASSIGN(const Definition known, definition.at("special_tokens"));
  TRY_ASSIGN(const Definition special, known.at(name));
  TRY_ASSIGN(const Definition list, special.at("ids"));
  TRY_ASSIGN(const std::vector<Definition> items, list.items());
  std::vector<TokenId> ids;
  for (const Definition& item : items) {
    TRY_ASSIGN(const TokenId id, item.id());
    ids.push_back(id);
  }
  return ids;
}

}  // namespace

Result<PostProcessor> PostProcessor::parse(const Definition& definition) {
  TRY_ASSIGN(const std::string_view type, type_of(definition, "post-processor",
                                                  {"TemplateProcessing", "BertProcessing",
                                                   "RobertaProcessing", "ByteLevel", "Sequence"}));
  if (type == "TemplateProcessing") return parse_template(definition);
  if (type == "Sequence") return parse_sequence(definition);
  if (type == "ByteLevel") return PostProcessor();  // it only moves offsets
  return parse_around(definition);
}

PostProcessor PostProcessor::around(TokenId begin, TokenId end) {
  PostProcessor made;
  made.items_ = {{.is_text = false, .tokens = {begin}},
                 {.is_text = true, .tokens = {}},
                 {.is_text = false, .tokens = {end}}};
  made.adds_nothing_ = false;
  return made;
}

Result<PostProcessor> PostProcessor::parse_around(const Definition& definition) {
  TRY_ASSIGN(const Definition cls, definition.at("cls"));
  TRY_ASSIGN(const Definition sep, definition.at("sep"));
  TRY_ASSIGN(const TokenId begin, parse_named_id(cls));
  TRY_ASSIGN(const TokenId end, parse_named_id(sep));
  return around(begin, end);
}

Result<PostProcessor> PostProcessor::parse_template(const Definition& definition) {
  TRY_ASSIGN(const Definition single, definition.at("single"));
  TRY_ASSIGN(const std::vector<Definition> pieces, single.items());
  PostProcessor made;
  made.items_.clear();
  made.adds_nothing_ = false;
  for (const Definition& piece : pieces) {
    if (const auto sequence = piece.find("Sequence")) {
      TRY_ASSIGN(const std::string_view id, sequence->text("id"));
      if (id != "A") return sequence->error("asks for a second text, where there is one only");
      made.items_.push_back({.is_text = true, .tokens = {}});
      continue;
    }
    TRY_ASSIGN(const Definition special, piece.at("SpecialToken"));
    TRY_ASSIGN(const std::string_view name, special.text("id"));
    TRY_ASSIGN(std::vector<TokenId> ids, ids_of_special(definition, name));
    made.items_.push_back({.is_text = false, .tokens = std::move(ids)});
  }
  return made;
}

Result<PostProcessor> PostProcessor::parse_sequence(const Definition& definition) {
  TRY_ASSIGN(const Definition list, definition.at("processors"));
  TRY_ASSIGN(const std::vector<Definition> items, list.items());
  PostProcessor made;
  for (const Definition& item : items) {
    TRY_ASSIGN(PostProcessor step, parse(item));
    if (step.adds_nothing_) continue;
    if (!made.adds_nothing_) {
      return fail(ErrorKind::kUsage, item.place() +
                                         ": a second post-processor that adds tokens is not "
                                         "supported. Put both into one TemplateProcessing.");
    }
    made = std::move(step);
  }
  return made;
}

void PostProcessor::process(std::span<const TokenId> text, bool add_special_tokens,
                            std::vector<TokenId>& tokens) const {
  for (const Item& item : items_) {
    if (item.is_text) {
      tokens.insert(tokens.end(), text.begin(), text.end());
    } else if (add_special_tokens) {
      tokens.insert(tokens.end(), item.tokens.begin(), item.tokens.end());
    }
  }
}

TokenId PostProcessor::largest_id() const {
  TokenId largest = -1;
  for (const Item& item : items_) {
    for (const TokenId token : item.tokens) largest = std::max(largest, token);
  }
  return largest;
}

}  // namespace shardlens::trainer
