#include "trainer/text/image/content_hash.h"

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

}  // namespace shardlens::trainer::text
