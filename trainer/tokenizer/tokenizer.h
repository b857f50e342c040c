// Text to the numbers a model was trained on, and back. Knows no LibTorch. Immutable once made; any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shardlens::trainer {

using TokenId = std::int32_t;

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Appends the tokens of `text`. Bytes that are not UTF-8 count as U+FFFD, one for each maximal
  // part, as Python's errors="replace". With `add_special_tokens` also what the tokenizer puts
  // around every text ([CLS] … [SEP], <s>). Special tokens written out in the text are recognised.
  // Throws std::runtime_error, as decode() may, where a regular expression of the tokenizer's file
  // needs more steps than any sensible one does, and for a word of more than 2 GiB.
  virtual void encode(std::string_view text, bool add_special_tokens,
                      std::vector<TokenId>& tokens) const = 0;
  // Ids that are not in the vocabulary give nothing.
  virtual std::string decode(std::span<const TokenId> tokens, bool skip_special_tokens) const = 0;

  // One more than the largest id.
  virtual std::int64_t vocabulary() const = 0;
  virtual std::optional<TokenId> id_of(std::string_view token) const = 0;
  // What begins a document: <s>, <|begin_of_text|>, [CLS]; absent: it has none, or does not say so.
  virtual std::optional<TokenId> begin_of_text() const { return {}; }
  // What ends a document or an answer: <|endoftext|>, </s>, [SEP]; absent: it has none.
  virtual std::optional<TokenId> end_of_text() const = 0;
  // What fills sequences up; absent: it has none.
  virtual std::optional<TokenId> padding() const = 0;
  // Equal for tokenizers that give equal tokens: of its definition, for caches.
  virtual std::string fingerprint() const = 0;
};

}  // namespace shardlens::trainer
