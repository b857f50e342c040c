// UTF-8 by code points. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace shardlens::trainer {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;

bool is_ascii(std::string_view text);
bool is_utf8(std::string_view text);

// Bytes that are not UTF-8 become U+FFFD, one for each maximal part of a character (Unicode 3.9,
// "substitution of maximal subparts"), as Python's errors="replace" and Rust's from_utf8_lossy.
std::string replace_invalid_utf8(std::string_view text);

void append_utf8(char32_t code_point, std::string& text);

// The following take valid UTF-8 only.
inline std::size_t utf8_length(char first_byte) {
  const auto byte = static_cast<unsigned char>(first_byte);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

// The code point at `at`, which moves behind it. `at` < text.size().
inline char32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[i]));
  };
  const char32_t first = byte(at);
  if (first < 0x80) {
    ++at;
    return first;
  }
  if (first < 0xE0) {
    at += 2;
    return (first & 0x1F) << 6 | (byte(at - 1) & 0x3F);
  }
  if (first < 0xF0) {
    at += 3;
    return (first & 0x0F) << 12 | (byte(at - 2) & 0x3F) << 6 | (byte(at - 1) & 0x3F);
  }
  at += 4;
  return (first & 0x07) << 18 | (byte(at - 3) & 0x3F) << 12 | (byte(at - 2) & 0x3F) << 6 |
         (byte(at - 1) & 0x3F);
}

// Where the character that ends at `end` begins. `end` > 0.
inline std::size_t character_before(std::string_view text, std::size_t end) {
  do {
    --end;
  } while ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80);
  return end;
}

std::size_t count_characters(std::string_view text);

}  // namespace shardlens::trainer
