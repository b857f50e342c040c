// Text as bytes: token 0-255 is the byte itself, one more ends a document. Any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace shardlens::trainer {

using Token = std::uint16_t;

struct ByteTokenizer {
  static constexpr Token kEndOfText = 256;
  static constexpr std::int64_t kVocabulary = 257;

  // Appends the document's bytes and the token that ends it.
  static void append(std::string_view document, std::vector<Token>& tokens) {
    for (const char c : document) tokens.push_back(static_cast<unsigned char>(c));
    tokens.push_back(kEndOfText);
  }
};

}  // namespace shardlens::trainer
