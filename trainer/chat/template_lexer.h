// A Jinja template as tokens, with the whitespace control that transformers asks for (trim_blocks,
// lstrip_blocks). Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trainer/chat/value.h"

namespace shardlens::trainer::chat {

enum class TokenKind {
  kData,
  kOutputBegin,  // {{
  kOutputEnd,
  kBlockBegin,  // {%
  kBlockEnd,
  kName,
  kText,
  kInteger,
  kReal,
  kOperator,
  kEnd
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  // Data, a name, an operator as written, a text without its quotes and escapes.
  std::string text;
  // Of kInteger and kReal.
  Value number;
  int line = 1;
};

// Larger templates are refused; the largest in use have 30 KiB.
inline constexpr std::size_t kLargestTemplate = std::size_t{4} << 20;

// An error names the line. The last token is kEnd.
Result<std::vector<Token>> tokenize(std::string_view source);

}  // namespace shardlens::trainer::chat
