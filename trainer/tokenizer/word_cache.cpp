#include "trainer/tokenizer/word_cache.h"

#include "trainer/tokenizer/vocabulary.h"

namespace shardlens::trainer {

namespace {

constexpr std::size_t kSlots = 2 * WordCache::kMostWords;
constexpr std::size_t kMask = kSlots - 1;

}  // namespace

WordCache::WordCache() : slots_(kSlots) {}

std::optional<std::span<const TokenId>> WordCache::find(std::string_view word) const {
  if (word.size() > kLongestWord) return {};
  const std::uint64_t hash = hash_text(word);
  for (std::size_t slot = hash & kMask; slots_[slot].bytes != 0; slot = (slot + 1) & kMask) {
    const Entry& entry = slots_[slot];
    if (entry.hash == hash && std::string_view(words_).substr(entry.word, entry.bytes) == word) {
      return std::span(tokens_).subspan(entry.tokens, entry.count);
    }
  }
  return {};
}

void WordCache::add(std::string_view word, std::span<const TokenId> tokens) {
  // A word has at most as many tokens as bytes, twice that where bytes are spelled.
  if (word.empty() || word.size() > kLongestWord || tokens.size() > 2 * kLongestWord) return;
  if (size_ == kMostWords) {
    slots_.assign(kSlots, {});
    words_.clear();
    tokens_.clear();
    size_ = 0;
  }
  const std::uint64_t hash = hash_text(word);
  std::size_t slot = hash & kMask;
  while (slots_[slot].bytes != 0) slot = (slot + 1) & kMask;
  slots_[slot] = {.hash = hash,
                  .word = static_cast<std::uint32_t>(words_.size()),
                  .tokens = static_cast<std::uint32_t>(tokens_.size()),
                  .bytes = static_cast<std::uint16_t>(word.size()),
                  .count = static_cast<std::uint16_t>(tokens.size())};
  words_.append(word);
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  ++size_;
}

}  // namespace shardlens::trainer
