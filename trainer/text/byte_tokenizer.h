// Text as bytes: token 0-255 is the byte itself, one more ends a document. For presets, which have
// no tokenizer of their own. Any thread.
#pragma once

#include "trainer/tokenizer/tokenizer.h"

namespace shardlens::trainer {

class ByteTokenizer final : public Tokenizer {
 public:
  static constexpr TokenId kEndOfText = 256;
  static constexpr std::int64_t kVocabulary = 257;

  // Every byte as it is, also one that is not UTF-8; there are no special tokens to recognise.
  void encode(std::string_view text, bool add_special_tokens,
              std::vector<TokenId>& tokens) const override;
  std::string decode(std::span<const TokenId> tokens, bool skip_special_tokens) const override;
  std::int64_t vocabulary() const override { return kVocabulary; }
  std::optional<TokenId> id_of(std::string_view token) const override;
  std::optional<TokenId> end_of_text() const override { return kEndOfText; }
  std::optional<TokenId> padding() const override { return std::nullopt; }
  std::string fingerprint() const override { return "bytes"; }
};

}  // namespace shardlens::trainer
