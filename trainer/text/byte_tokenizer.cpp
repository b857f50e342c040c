#include "trainer/text/byte_tokenizer.h"

namespace shardlens::trainer {

namespace {

constexpr std::string_view kEndOfTextName = "<|endoftext|>";

}  // namespace

void ByteTokenizer::encode(std::string_view text, bool /*add_special_tokens*/,
                           std::vector<TokenId>& tokens) const {
  tokens.reserve(tokens.size() + text.size());
  for (const char c : text) tokens.push_back(static_cast<unsigned char>(c));
}

std::string ByteTokenizer::decode(std::span<const TokenId> tokens, bool skip_special_tokens) const {
  std::string text;
  for (const TokenId token : tokens) {
    if (token >= 0 && token < kEndOfText) {
      text += static_cast<char>(token);
    } else if (token == kEndOfText && !skip_special_tokens) {
      text += kEndOfTextName;
    }
  }
  return text;
}

std::optional<TokenId> ByteTokenizer::id_of(std::string_view token) const {
  if (token == kEndOfTextName) return kEndOfText;
  if (token.size() == 1) return static_cast<unsigned char>(token.front());
  return std::nullopt;
}

}  // namespace shardlens::trainer
