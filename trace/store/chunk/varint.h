// Integers of seven bits a byte, lowest first, and columns of them. Any thread.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace shardlens::trace::store {

inline constexpr std::size_t kLongestVarint = 10;

inline std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
inline std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

// Writes varints into a buffer that is long enough: kLongestVarint bytes for each.
struct VarintWriter {
  std::byte* position;

  void put(std::uint64_t value) {
    while (value >= 0x80) {
      *position++ = static_cast<std::byte>(value | 0x80);
      value >>= 7;
    }
    *position++ = static_cast<std::byte>(value);
  }

  // As put(), with no branch that depends on the length, where lengths are mixed.
  void put_mixed(std::uint64_t value) {
    if (value < 0x80 || value >> 56 != 0) return put(value);
    const int length = (std::bit_width(value) + 6) / 7;
    std::uint64_t word = (value & 0x0fff'ffff) | (value & 0x00ff'ffff'f000'0000u) << 4;
    word = (word & 0x0000'3fff'0000'3fffu) | (word & 0x0fff'c000'0fff'c000u) << 2;
    word = (word & 0x007f'007f'007f'007fu) | (word & 0x3f80'3f80'3f80'3f80u) << 1;
    word |= 0x8080'8080'8080'8080u & ((std::uint64_t{1} << (8 * (length - 1))) - 1);
    std::memcpy(position, &word, sizeof(word));
    position += length;
  }
};

// Reads varints; after an overrun everything is 0 and `ok` false.
struct VarintReader {
  const std::byte* position;
  const std::byte* end;
  bool ok = true;

  std::uint64_t next() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (position == end) break;
      const auto byte = std::to_integer<std::uint64_t>(*position++);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    ok = false;
    return 0;
  }

  // As next(), with no branch that depends on the length, where lengths are mixed.
  std::uint64_t next_mixed() {
    if (static_cast<std::size_t>(end - position) < sizeof(std::uint64_t)) return next();
    std::uint64_t word;
    std::memcpy(&word, position, sizeof(word));
    const std::uint64_t ends = ~word & 0x8080'8080'8080'8080u;
    if (ends == 0) return next();
    const int length = std::countr_zero(ends) / 8 + 1;
    position += length;
    word &= (ends ^ (ends - 1)) & 0x7f7f'7f7f'7f7f'7f7fu;
    word = (word & 0x7f00'7f00'7f00'7f00u) >> 1 | (word & 0x007f'007f'007f'007fu);
    word = (word & 0x3fff'0000'3fff'0000u) >> 2 | (word & 0x0000'3fff'0000'3fffu);
    return (word & 0x0fff'ffff'0000'0000u) >> 4 | (word & 0x0000'0000'0fff'ffffu);
  }
};

static_assert(std::endian::native == std::endian::little);

}  // namespace shardlens::trace::store
