// Checksums of bytes, by xxHash. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace shardlens::trace::base {

// XXH64: of chunks, lists and model files.
std::uint64_t checksum_of(std::span<const std::byte> bytes);
std::uint64_t checksum_of(std::string_view text);
// XXH3, many times as fast: of rows, where every byte is new to it.
std::uint64_t quick_checksum_of(std::span<const std::byte> bytes, std::uint64_t seed);

// Always 16 lower-case hexadecimal digits; nothing else is read back.
std::string checksum_text(std::uint64_t checksum);
std::optional<std::uint64_t> checksum_from_text(std::string_view text);

}  // namespace shardlens::trace::base
