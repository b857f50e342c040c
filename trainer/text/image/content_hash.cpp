#include "trainer/text/image/content_hash.h"

#include <cstdio>

namespace shardlens::trainer::text {

ContentHash::ContentHash() : state_(XXH64_createState()) { XXH64_reset(state_.get(), 0); }

void ContentHash::update(std::span<const std::byte> bytes) {
  XXH64_update(state_.get(), bytes.data(), bytes.size());
}

void ContentHash::update_field(std::string_view text) {
  update_number(text.size());
  update(text);
}

void ContentHash::update_number(std::uint64_t number) {
  update(std::as_bytes(std::span(&number, 1)));
}

std::uint64_t ContentHash::digest() const { return XXH64_digest(state_.get()); }

std::uint64_t content_hash(std::span<const std::byte> bytes) {
  return XXH64(bytes.data(), bytes.size(), 0);
}

std::string hexadecimal(std::uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

}  // namespace shardlens::trainer::text
