// XXH64 of any amount of bytes: tells contents apart, no protection against people. One thread.
#pragma once

#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace shardlens::trainer::text {

class ContentHash {
 public:
  ContentHash() : state_(XXH64_createState()) { XXH64_reset(state_.get(), 0); }

  void update(std::span<const std::byte> bytes) {
    XXH64_update(state_.get(), bytes.data(), bytes.size());
  }
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  // With its length, so that "ab", "c" differs from "a", "bc".
  void update_field(std::string_view text) {
    update_number(text.size());
    update(text);
  }
  void update_number(std::uint64_t number) { update(std::as_bytes(std::span(&number, 1))); }
  // Of all bytes so far, however they were cut up.
  std::uint64_t digest() const { return XXH64_digest(state_.get()); }

 private:
  struct Free {
    void operator()(XXH64_state_t* state) const { XXH64_freeState(state); }
  };
  std::unique_ptr<XXH64_state_t, Free> state_;
};

}  // namespace shardlens::trainer::text
