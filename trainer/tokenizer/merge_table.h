// The merges of a byte-pair encoding: pair of tokens -> rank and the token made. Any thread, once
// filled.
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/tokenizer/tokenizer.h"

namespace shardlens::trainer {

struct MergeRule {
  std::uint32_t rank = 0;
  TokenId made = 0;
};

class MergeTable {
 public:
  explicit MergeTable(std::size_t merges = 0);

  // The last rule of a pair counts.
  void set(TokenId left, TokenId right, MergeRule rule);

  // Null: they do not merge.
  const MergeRule* find(TokenId left, TokenId right) const {
    for (std::size_t slot = first_slot(left, right);; slot = (slot + 1) & mask_) {
      if (slots_[slot].pair == key(left, right)) return &slots_[slot].rule;
      if (slots_[slot].pair == kFree) return nullptr;
    }
  }

 private:
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};  // no pair: ids are below 2^31

  struct Slot {
    std::uint64_t pair = kFree;
    MergeRule rule;
  };

  static std::uint64_t key(TokenId left, TokenId right) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
           static_cast<std::uint32_t>(right);
  }
  std::size_t first_slot(TokenId left, TokenId right) const {
    // Fibonacci hashing, by 2^64 over the golden ratio.
    return (key(left, right) * 0x9E3779B97F4A7C15) >> 32 & mask_;
  }

  std::vector<Slot> slots_;  // open addressing, at most half full
  std::size_t mask_ = 0;
};

}  // namespace shardlens::trainer
