#include "trainer/tokenizer/vocabulary.h"

#include <algorithm>
#include <functional>

namespace shardlens::trainer {

using trace::Result;

std::uint64_t hash_text(std::string_view text) { return std::hash<std::string_view>()(text); }

Result<Vocabulary> Vocabulary::parse(const Definition& definition) {
  simdjson::dom::object object;
  if (definition.value().get(object) != simdjson::SUCCESS) return definition.error("is no object");
  Vocabulary vocabulary;
  for (const auto [token, value] : object) {
    const auto id = Definition(value, "").id();
    if (!id) {
      return Definition(value, definition.place() + "['" + std::string(token.substr(0, 60)) + "']")
          .error("is no token id (a whole number from 0 to 2147483647)");
    }
    vocabulary.add(token, *id);
  }
  return vocabulary;
}

void Vocabulary::add(std::string_view token, TokenId id) {
  if ((entries_.size() + 1) * 2 > slots_.size()) grow();
  std::uint32_t& slot = slots_[slot_of(token)];
  if (slot == 0) {
    entries_.push_back(
        {.begin = bytes_.size(), .length = static_cast<std::uint32_t>(token.size())});
    bytes_.append(token);
    slot = static_cast<std::uint32_t>(entries_.size());
  } else if (const auto old = by_id_.find(entries_[slot - 1].id);
             old != by_id_.end() && old->second == slot - 1) {
    by_id_.erase(old);
  }
  entries_[slot - 1].id = id;
  by_id_[id] = slot - 1;
  largest_ = std::max(largest_, id);
}

std::optional<TokenId> Vocabulary::find(std::string_view token) const {
  if (slots_.empty()) return {};
  const std::uint32_t slot = slots_[slot_of(token)];
  if (slot == 0) return {};
  return entries_[slot - 1].id;
}

Result<TokenId> Vocabulary::unknown(std::string_view token) const {
  if (const auto id = find(token)) return *id;
  return trace::fail(trace::ErrorKind::kDamaged, "the token for unknown words, '" +
                                                     std::string(token.substr(0, 60)) +
                                                     "', is not in the vocabulary");
}

std::optional<std::string_view> Vocabulary::token_of(TokenId id) const {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return {};
  return text(entries_[found->second]);
}

std::size_t Vocabulary::slot_of(std::string_view token) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash_text(token) & mask;
  while (slots_[slot] != 0 && text(entries_[slots_[slot] - 1]) != token) slot = (slot + 1) & mask;
  return slot;
}

void Vocabulary::grow() {
  slots_.assign(std::max<std::size_t>(64, slots_.size() * 2), 0);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    slots_[slot_of(text(entries_[i]))] = static_cast<std::uint32_t>(i + 1);
  }
}

}  // namespace shardlens::trainer
