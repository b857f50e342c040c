#include "trainer/text/content_hash.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

namespace shardlens::trainer {

namespace {

// The specification's five primes.
constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87u;
constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4Fu;
constexpr std::uint64_t kPrime3 = 0x165667B19E3779F9u;
constexpr std::uint64_t kPrime4 = 0x85EBCA77C2B2AE63u;
constexpr std::uint64_t kPrime5 = 0x27D4EB2F165667C5u;

static_assert(std::endian::native == std::endian::little);

template <typename Number>
std::uint64_t read(const std::byte* bytes) {
  Number number;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

std::uint64_t mixed(std::uint64_t lane, std::uint64_t input) {
  return std::rotl(lane + input * kPrime2, 31) * kPrime1;
}

std::uint64_t finished(std::uint64_t hash) {
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

}  // namespace

ContentHash::ContentHash() : lanes_{kPrime1 + kPrime2, kPrime2, 0, std::uint64_t{0} - kPrime1} {}

void ContentHash::add_block(const std::byte* block) {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i] = mixed(lanes_[i], read<std::uint64_t>(block + 8 * i));
  }
}

void ContentHash::update(std::span<const std::byte> bytes) {
  total_ += bytes.size();
  if (rest_size_ > 0) {
    const auto taken = std::min(kBlock - rest_size_, bytes.size());
    std::copy_n(bytes.begin(), taken, rest_.begin() + static_cast<std::ptrdiff_t>(rest_size_));
    rest_size_ += taken;
    bytes = bytes.subspan(taken);
    if (rest_size_ < kBlock) return;
    add_block(rest_.data());
    rest_size_ = 0;
  }
  for (; bytes.size() >= kBlock; bytes = bytes.subspan(kBlock)) add_block(bytes.data());
  std::ranges::copy(bytes, rest_.begin());
  rest_size_ = bytes.size();
}

void ContentHash::update_field(std::string_view text) {
  update_number(text.size());
  update(text);
}

void ContentHash::update_number(std::uint64_t number) {
  update(std::as_bytes(std::span(&number, 1)));
}

std::uint64_t ContentHash::digest() const {
  std::uint64_t hash = kPrime5;
  if (total_ >= kBlock) {
    hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) +
           std::rotl(lanes_[3], 18);
    for (const std::uint64_t lane : lanes_) hash = (hash ^ mixed(0, lane)) * kPrime1 + kPrime4;
  }
  hash += total_;
  const std::byte* at = rest_.data();
  std::size_t left = rest_size_;
  for (; left >= 8; at += 8, left -= 8) {
    hash = std::rotl(hash ^ mixed(0, read<std::uint64_t>(at)), 27) * kPrime1 + kPrime4;
  }
  if (left >= 4) {
    hash = std::rotl(hash ^ (read<std::uint32_t>(at) * kPrime1), 23) * kPrime2 + kPrime3;
    at += 4;
    left -= 4;
  }
  for (; left > 0; ++at, --left) {
    hash = std::rotl(hash ^ (read<std::uint8_t>(at) * kPrime5), 11) * kPrime1;
  }
  return finished(hash);
}

std::uint64_t content_hash(std::span<const std::byte> bytes) {
  ContentHash hash;
  hash.update(bytes);
  return hash.digest();
}

std::string hexadecimal(std::uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

}  // namespace shardlens::trainer
