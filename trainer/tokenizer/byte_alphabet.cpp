#include "trainer/tokenizer/byte_alphabet.h"

#include <array>

#include "trainer/tokenizer/utf8.h"

namespace shardlens::trainer {

namespace {

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

// The 68 others are numbered in order.
constexpr unsigned kOthers = 68;

constexpr std::array<char32_t, 256> make_characters() {
  std::array<char32_t, 256> characters{};
  char32_t next = 256;
  for (unsigned byte = 0; byte < 256; ++byte) {
    characters[byte] = stands_for_itself(byte) ? byte : next++;
  }
  return characters;
}

constexpr std::array<char32_t, 256> kCharacters = make_characters();

constexpr std::array<std::uint8_t, kOthers> make_others() {
  std::array<std::uint8_t, kOthers> others{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (kCharacters[byte] >= 256) others[kCharacters[byte] - 256] = static_cast<std::uint8_t>(byte);
  }
  return others;
}

constexpr std::array<std::uint8_t, kOthers> kOtherBytes = make_others();

}  // namespace

char32_t spelled_byte(std::uint8_t byte) { return kCharacters[byte]; }

std::optional<std::uint8_t> byte_spelled(char32_t character) {
  if (character < 256) {
    if (!stands_for_itself(character)) return {};
    return static_cast<std::uint8_t>(character);
  }
  if (character >= 256 + kOthers) return {};
  return kOtherBytes[character - 256];
}

void append_spelled(std::string_view bytes, std::string& text) {
  for (const char byte : bytes) append_utf8(kCharacters[static_cast<unsigned char>(byte)], text);
}

std::string spelled_bytes(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 4);
  append_spelled(bytes, text);
  return text;
}

}  // namespace shardlens::trainer
