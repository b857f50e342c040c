// XXH64 of bytes, by its specification (github.com/Cyan4973/xxHash, doc/xxhash_spec.md). Any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace shardlens::trace {

std::uint64_t checksum_of(std::span<const std::byte> bytes);
std::uint64_t checksum_of(std::string_view text);

// Always 16 lower-case hexadecimal digits; nothing else is read back.
std::string checksum_text(std::uint64_t checksum);
std::optional<std::uint64_t> checksum_from_text(std::string_view text);

}  // namespace shardlens::trace
