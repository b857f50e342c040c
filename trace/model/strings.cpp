#include "trace/model/strings.h"

namespace shardlens::trace::model {

namespace {
// As with ids: not more memory than files have rows.
constexpr int kLargestRank = 1 << 20;
}  // namespace

void StringTable::add(const InternedString& string) {
  if (string.rank < 0 || string.rank > kLargestRank || string.id > kMostStringId) return;
  const auto rank = static_cast<std::size_t>(string.rank);
  if (by_rank_.size() <= rank) by_rank_.resize(rank + 1);
  auto& texts = by_rank_[rank];
  if (texts.size() <= string.id) texts.resize(string.id + 1);
  texts[string.id] = string.text;
}

std::string_view StringTable::get(int rank, StringId id) const {
  if (rank < 0 || static_cast<std::size_t>(rank) >= by_rank_.size()) return {};
  const auto& texts = by_rank_[static_cast<std::size_t>(rank)];
  return id < texts.size() ? std::string_view(texts[id]) : std::string_view();
}

}  // namespace shardlens::trace::model
