// What a tokenizer puts around the tokens of a text, such as [CLS] … [SEP]: the "post_processor" of
// a tokenizer.json. Any thread, once made.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "trainer/tokenizer/definition.h"

namespace shardlens::trainer {

class PostProcessor {
 public:
  // Adds nothing.
  PostProcessor() = default;
  // Errors as parse_normalizer.
  static trace::Result<PostProcessor> parse(const Definition& definition);
  // `begin` text `end`.
  static PostProcessor around(TokenId begin, TokenId end);

  // Appends the text's tokens with what belongs around them.
  void process(std::span<const TokenId> text, bool add_special_tokens,
               std::vector<TokenId>& tokens) const;

  TokenId largest_id() const;  // -1: it adds none

 private:
  // Tokens, or the text in their place.
  struct Item {
    bool is_text = false;
    std::vector<TokenId> tokens;
  };

  static trace::Result<PostProcessor> parse_template(const Definition& definition);
  static trace::Result<PostProcessor> parse_around(const Definition& definition);
  static trace::Result<PostProcessor> parse_sequence(const Definition& definition);

  std::vector<Item> items_{{.is_text = true, .tokens = {}}};
  bool adds_nothing_ = true;
};

}  // namespace shardlens::trainer
