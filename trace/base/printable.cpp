#include "trace/base/printable.h"

#include <algorithm>
#include <cstddef>

#include "trace/base/number_text.h"

namespace shardlens::trace::base {
namespace {

unsigned char byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

// The length of the sequence that begins at `at`; 0 if it is none (RFC 3629, table 3-7 of Unicode).
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const unsigned char first = byte_at(text, at);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xc2 && first < 0xe0   ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, at + i) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = byte_at(text, at + 1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool beyond = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
  return overlong || beyond ? 0 : length;
}

// Of a valid sequence.
char32_t code_point(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first;
  char32_t code = first & (0xffu >> (sequence.size() + 1));
  for (const char c : sequence.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3f);
  return code;
}

bool is_deceptive(char32_t code) {
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool separator = code == 0x2028 || code == 0x2029;
  const bool direction = code == 0x061c || code == 0x200e || code == 0x200f ||
                         (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return control || separator || direction;
}

// `replaced(code)` in place of every deceptive character; a byte that is no UTF-8 is U+FFFD.
template <typename Replaced>
std::string rewritten(std::string_view text, Replaced replaced) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    const std::string_view sequence = text.substr(at, length);
    at += length == 0 ? 1 : length;
    const char32_t code = length == 0 ? 0xfffd : code_point(sequence);
    if (length == 0 || is_deceptive(code)) {
      result += replaced(code);
    } else {
      result += sequence;
    }
  }
  return result;
}

std::string not_printable(char32_t) { return "\uFFFD"; }

}  // namespace

std::string printable(std::string_view text) {
  return rewritten(text, [](char32_t code) {
    const bool is_layout = code == U'\n' || code == U'\t';
    return is_layout ? std::string(1, static_cast<char>(code)) : not_printable(code);
  });
}

std::string printable_line(std::string_view text) { return rewritten(text, not_printable); }

std::string printable_message(std::string_view text) {
  std::string line = printable(text);
  std::ranges::replace(line, '\n', ' ');
  return line;
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0, length = 0; at < text.size(); at += length) {
    length = sequence_length(text, at);
    if (length == 0) return false;
  }
  return true;
}

std::string printable_json(std::string_view document) {
  return rewritten(document, [](char32_t code) {
    // Between values: strings have them escaped.
    const bool is_layout = code == U'\n' || code == U'\t' || code == U'\r';
    return is_layout ? std::string(1, static_cast<char>(code))
                     : formatted("\\u%04x", static_cast<unsigned>(code));
  });
}

}  // namespace shardlens::trace::base
