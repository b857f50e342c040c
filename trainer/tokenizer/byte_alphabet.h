// The 256 characters that byte-level tokenizers spell bytes with: printable bytes stand for
// themselves, the others for U+0100 and following (bytes_to_unicode of GPT-2). Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shardlens::trainer {

char32_t spelled_byte(std::uint8_t byte);
std::optional<std::uint8_t> byte_spelled(char32_t character);

void append_spelled(std::string_view bytes, std::string& text);
std::string spelled_bytes(std::string_view bytes);

}  // namespace shardlens::trainer
