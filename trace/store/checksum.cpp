#include "trace/store/checksum.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstring>

namespace shardlens::trace {

static_assert(std::endian::native == std::endian::little);

namespace {

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87;
constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
constexpr std::uint64_t kPrime3 = 0x165667B19E3779F9;
constexpr std::uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
constexpr std::uint64_t kPrime5 = 0x27D4EB2F165667C5;
constexpr std::size_t kStripe = 32;

template <typename Word>
std::uint64_t word_at(const std::byte* at) {
  Word word;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

std::uint64_t mixed(std::uint64_t lane, std::uint64_t word) {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

// The four lanes over whole stripes; `at` ends at the first byte that is left.
std::uint64_t over_stripes(const std::byte*& at, const std::byte* end) {
  std::array<std::uint64_t, 4> lanes = {kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};
  while (static_cast<std::size_t>(end - at) >= kStripe) {
    for (std::uint64_t& lane : lanes) {
      lane = mixed(lane, word_at<std::uint64_t>(at));
      at += sizeof(std::uint64_t);
    }
  }
  std::uint64_t sum = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) +
                      std::rotl(lanes[3], 18);
  for (const std::uint64_t lane : lanes) sum = (sum ^ mixed(0, lane)) * kPrime1 + kPrime4;
  return sum;
}

std::uint64_t over_rest(std::uint64_t sum, const std::byte* at, const std::byte* end) {
  for (; end - at >= 8; at += 8) {
    sum = std::rotl(sum ^ mixed(0, word_at<std::uint64_t>(at)), 27) * kPrime1 + kPrime4;
  }
  for (; end - at >= 4; at += 4) {
    sum = std::rotl(sum ^ (word_at<std::uint32_t>(at) * kPrime1), 23) * kPrime2 + kPrime3;
  }
  for (; at != end; ++at) {
    sum = std::rotl(sum ^ (word_at<std::uint8_t>(at) * kPrime5), 11) * kPrime1;
  }
  return sum;
}

}  // namespace

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  const std::byte* at = bytes.data();
  const std::byte* const end = at + bytes.size();
  std::uint64_t sum = bytes.size() >= kStripe ? over_stripes(at, end) : kPrime5;
  sum = over_rest(sum + bytes.size(), at, end);
  sum = (sum ^ (sum >> 33)) * kPrime2;
  sum = (sum ^ (sum >> 29)) * kPrime3;
  return sum ^ (sum >> 32);
}

std::uint64_t checksum_of(std::string_view text) {
  return checksum_of(std::as_bytes(std::span(text.data(), text.size())));
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

}  // namespace shardlens::trace
