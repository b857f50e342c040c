#include "app/cli/printable.h"

#include <cstddef>

namespace shardlens::app {
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

bool is_control(std::string_view text, std::size_t at) {
  const unsigned char byte = byte_at(text, at);
  const bool c1 = byte == 0xc2 && byte_at(text, at + 1) < 0xa0;
  return (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f || c1;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    if (length == 0 || is_control(text, at)) {
      result += "\uFFFD";
      at += length == 0 ? 1 : length;
    } else {
      result += text.substr(at, length);
      at += length;
    }
  }
  return result;
}

}  // namespace shardlens::app
