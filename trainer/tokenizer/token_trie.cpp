#include "trainer/tokenizer/token_trie.h"

#include <algorithm>

namespace shardlens::trainer {

const TokenTrie::Node* TokenTrie::child(const Node& node, char c) const {
  const auto found =
      std::ranges::lower_bound(node.children, c, {}, &std::pair<char, std::uint32_t>::first);
  return found == node.children.end() || found->first != c ? nullptr : &nodes_[found->second];
}

bool TokenTrie::add(std::string_view string, TokenId token) {
  if (string.empty()) return true;
  first_[static_cast<unsigned char>(string.front())] = true;
  std::size_t node = 0;
  for (const char c : string) {
    auto& children = nodes_[node].children;
    auto at = std::ranges::lower_bound(children, c, {}, &std::pair<char, std::uint32_t>::first);
    if (at == children.end() || at->first != c) {
      const auto made = static_cast<std::uint32_t>(nodes_.size());
      children.insert(at, {c, made});
      nodes_.emplace_back();
      node = made;
    } else {
      node = at->second;
    }
  }
  if (nodes_[node].token != kNoToken) return false;
  nodes_[node].token = token;
  return true;
}

std::optional<TokenTrie::Found> TokenTrie::find(std::string_view text, std::size_t from) const {
  for (std::size_t begin = from; begin < text.size(); ++begin) {
    if (!first_[static_cast<unsigned char>(text[begin])]) continue;
    Found found;
    const Node* node = &nodes_.front();
    for (std::size_t at = begin; at < text.size(); ++at) {
      node = child(*node, text[at]);
      if (node == nullptr) break;
      if (node->token != kNoToken) found = {.range = {begin, at + 1}, .token = node->token};
    }
    if (found.token != kNoToken) return found;
  }
  return {};
}

}  // namespace shardlens::trainer
