// Numbers as text for files and messages (as they are read on screen: trace/timeline/words).
// Any thread.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "trace/base/text.h"

namespace shardlens::trace::base {

// The shortest decimal text that reads back as the same number: "0.5", "100".
template <typename Number>
std::string shortest_text(Number value) {
  std::array<char, 64> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

// What printf would print, of some numbers: 127 bytes at most.
[[gnu::format(printf, 1, 2)]] inline std::string formatted(const char* format, ...) {
  std::array<char, 128> text{};
  std::va_list values;
  va_start(values, format);
  std::vsnprintf(text.data(), text.size(), format, values);
  va_end(values);
  return text.data();
}

// "1 step", "1,204 steps"
inline std::string counted(std::integral auto count, std::string_view noun) {
  return grouped(static_cast<std::int64_t>(count)) + " " + std::string(noun) +
         (count == 1 ? "" : "s");
}

}  // namespace shardlens::trace::base
