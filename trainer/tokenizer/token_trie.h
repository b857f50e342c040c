// A set of strings that is looked for in one pass over a text. Any thread, once filled.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/tokenizer/text_pieces.h"

namespace shardlens::trainer {

class TokenTrie {
 public:
  struct Found {
    TextRange range;
    TokenId token = kNoToken;
  };

  bool empty() const { return nodes_.size() == 1; }
  // False if it was there.
  bool add(std::string_view string, TokenId token);
  // The first place at or behind `from` where one begins, and the longest one there.
  std::optional<Found> find(std::string_view text, std::size_t from) const;

 private:
  struct Node {
    TokenId token = kNoToken;
    std::vector<std::pair<char, std::uint32_t>> children;  // by character
  };
  const Node* child(const Node& node, char c) const;

  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::vector<bool> first_ = std::vector<bool>(256);  // bytes that begin a string
};

}  // namespace shardlens::trainer
