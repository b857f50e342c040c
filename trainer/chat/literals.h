// The literals of a template: texts with Python's escapes, numbers. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trainer/chat/value.h"

namespace shardlens::trainer::chat {

// What is between the quotes of a literal, its escapes resolved. An error for those that Python
// refuses, for halves of surrogate pairs and for \N{…}.
Result<std::string> unescaped(std::string_view text);

struct NumberLiteral {
  // As written.
  std::string text;
  // Absent: beyond 64 bits.
  std::optional<Value> value;
};
// The number at the beginning of `text`, which begins with a digit.
NumberLiteral number_literal(std::string_view text, bool may_be_real);

}  // namespace shardlens::trainer::chat
