#include "trainer/text/byte_tokens.h"

namespace shardlens::trainer::text {

std::vector<TokenId> byte_tokens(std::string_view text) {
  std::vector<TokenId> tokens;
  tokens.reserve(text.size());
  for (const char c : text) tokens.push_back(static_cast<unsigned char>(c));
  return tokens;
}

std::string text_of_byte_tokens(std::span<const TokenId> tokens) {
  std::string text;
  for (const TokenId token : tokens) {
    if (token >= 0 && token < kEndOfBytes) text += static_cast<char>(token);
  }
  return text;
}

}  // namespace shardlens::trainer::text
