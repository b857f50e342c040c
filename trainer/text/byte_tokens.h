// Text as bytes: token 0-255 is the byte itself, one more ends a document. For presets, which have
// no tokenizer of their own. Any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/text/image/token_layout.h"

namespace shardlens::trainer::text {

inline constexpr TokenId kEndOfBytes = 256;

// Every byte as it is, also one that is not UTF-8.
std::vector<TokenId> byte_tokens(std::string_view text);
// Without what ends documents, and what is no byte.
std::string text_of_byte_tokens(std::span<const TokenId> tokens);

}  // namespace shardlens::trainer::text
