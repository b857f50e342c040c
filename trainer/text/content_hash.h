// XXH64, a fast 64-bit hash of any amount of bytes (Collet, xxHash specification 0.1.1): tells
// contents apart, no protection against people. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace shardlens::trainer {

class ContentHash {
 public:
  ContentHash();

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  // With its length, so that "ab", "c" differs from "a", "bc".
  void update_field(std::string_view text);
  void update_number(std::uint64_t number);
  // Of all bytes so far, however they were cut up.
  std::uint64_t digest() const;

 private:
  static constexpr std::size_t kBlock = 32;
  void add_block(const std::byte* block);

  std::array<std::uint64_t, 4> lanes_;
  std::array<std::byte, kBlock> rest_{};
  std::size_t rest_size_ = 0;
  std::uint64_t total_ = 0;
};

std::uint64_t content_hash(std::span<const std::byte> bytes);
// 16 hexadecimal digits.
std::string hexadecimal(std::uint64_t number);

}  // namespace shardlens::trainer
