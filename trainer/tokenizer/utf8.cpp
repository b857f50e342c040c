#include "trainer/tokenizer/utf8.h"

#include <algorithm>
#include <cstring>

namespace shardlens::trainer {

namespace {

struct Sequence {
  std::size_t length = 1;  // of the character, or of the maximal part of one
  bool valid = false;
};

// Unicode 3.9, table 3-7: what may follow a first byte. Only the second byte has bounds of its own.
Sequence sequence_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return {.length = 1, .valid = true};
  if (first < 0xC2 || first > 0xF4) return {};
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  const unsigned char least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned char most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  for (std::size_t i = 1; i < length; ++i) {
    if (at + i >= text.size()) return {.length = i};
    const unsigned char next = byte(at + i);
    if (next < (i == 1 ? least : 0x80) || next > (i == 1 ? most : 0xBF)) return {.length = i};
  }
  return {.length = length, .valid = true};
}

std::size_t skip_ascii(std::string_view text, std::size_t at) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data() + at, 8);
    if ((eight & kHighBits) != 0) break;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at;
}

std::size_t valid_prefix(std::string_view text) {
  std::size_t at = 0;
  while ((at = skip_ascii(text, at)) < text.size()) {
    const Sequence sequence = sequence_at(text, at);
    if (!sequence.valid) return at;
    at += sequence.length;
  }
  return at;
}

}  // namespace

bool is_ascii(std::string_view text) { return skip_ascii(text, 0) == text.size(); }

bool is_utf8(std::string_view text) { return valid_prefix(text) == text.size(); }

std::string replace_invalid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (true) {
    const std::size_t good = valid_prefix(text);
    valid.append(text.substr(0, good));
    if (good == text.size()) return valid;
    append_utf8(kReplacementCharacter, valid);
    text.remove_prefix(good + sequence_at(text, good).length);
  }
}

void append_utf8(char32_t c, std::string& text) {
  const auto append = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    append(c);
  } else if (c < 0x800) {
    append(0xC0 | c >> 6);
    append(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    append(0xE0 | c >> 12);
    append(0x80 | (c >> 6 & 0x3F));
    append(0x80 | (c & 0x3F));
  } else {
    append(0xF0 | c >> 18);
    append(0x80 | (c >> 12 & 0x3F));
    append(0x80 | (c >> 6 & 0x3F));
    append(0x80 | (c & 0x3F));
  }
}

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace shardlens::trainer
