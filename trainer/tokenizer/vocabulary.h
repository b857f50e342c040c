// The tokens of a model and their ids, both ways. Any thread, once filled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trainer/tokenizer/definition.h"
#include "trainer/tokenizer/tokenizer.h"

namespace shardlens::trainer {

std::uint64_t hash_text(std::string_view text);

class Vocabulary {
 public:
  // From an object {token: id}. Of a token that comes twice the last id counts.
  static trace::Result<Vocabulary> parse(const Definition& definition);

  void add(std::string_view token, TokenId id);

  std::optional<TokenId> find(std::string_view token) const;
  // kDamaged, which says what it is for: the token for unknown words is not there.
  trace::Result<TokenId> unknown(std::string_view token) const;
  // Of two tokens with one id, the one added last.
  std::optional<std::string_view> token_of(TokenId id) const;

  // Different tokens, which may be fewer than the largest id tells.
  std::size_t size() const { return entries_.size(); }
  TokenId largest_id() const { return largest_; }  // -1: none

  template <typename Visit>
  void each(Visit&& visit) const {
    for (const Entry& entry : entries_) visit(text(entry), entry.id);
  }

 private:
  struct Entry {
    std::size_t begin = 0;
    std::uint32_t length = 0;
    TokenId id = 0;
  };

  std::string_view text(const Entry& entry) const {
    return std::string_view(bytes_).substr(entry.begin, entry.length);
  }
  std::size_t slot_of(std::string_view token) const;
  void grow();

  std::string bytes_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;  // open addressing: index into entries_ plus one, 0 is free
  std::unordered_map<TokenId, std::uint32_t> by_id_;
  TokenId largest_ = -1;
};

}  // namespace shardlens::trainer
