#include "trace/base/checksum.h"

#include <xxhash.h>

#include <charconv>

namespace shardlens::trace::base {

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  return XXH64(bytes.data(), bytes.size(), 0);
}

std::uint64_t checksum_of(std::string_view text) {
  return checksum_of(std::as_bytes(std::span(text.data(), text.size())));
}

std::uint64_t quick_checksum_of(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::string checksum_text(std::uint64_t checksum) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = 0; i < text.size(); ++i) {
    text[i] = kDigits[(checksum >> (60 - 4 * i)) & 0xf];
  }
  return text;
}

std::optional<std::uint64_t> checksum_from_text(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  const bool read = error == std::errc() && end == text.data() + text.size();
  // Also refuses upper case: what we did not write was changed.
  if (!read || checksum_text(value) != text) return std::nullopt;
  return value;
}

}  // namespace shardlens::trace::base
