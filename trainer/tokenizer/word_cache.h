// The tokens of words seen before: text repeats itself, and looking up is much quicker than
// merging. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/tokenizer/tokenizer.h"

namespace shardlens::trainer {

class WordCache {
 public:
  WordCache();

  // Valid until the next add().
  std::optional<std::span<const TokenId>> find(std::string_view word) const;
  // `word` is not there yet. Longer words than kLongestWord are not worth their place. A full cache
  // starts anew.
  void add(std::string_view word, std::span<const TokenId> tokens);

  static constexpr std::size_t kLongestWord = 255;
  static constexpr std::size_t kMostWords = std::size_t{1} << 16;

 private:
  struct Entry {
    std::uint64_t hash = 0;
    std::uint32_t word = 0, tokens = 0;  // where they begin
    std::uint16_t bytes = 0, count = 0;  // 0 bytes: free
  };

  std::vector<Entry> slots_;  // open addressing, at most half full
  std::string words_;
  std::vector<TokenId> tokens_;
  std::size_t size_ = 0;
};

}  // namespace shardlens::trainer
