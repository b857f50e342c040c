#include "trace/store/chunk/global_names.h"

#include <algorithm>
#include <mutex>

namespace shardlens::trace::store {

namespace {

// A writer numbers strings one after the other. Some may be lost, but not nearly all.
constexpr std::size_t kSpareIds = 4096, kIdsOfAString = 16;

}  // namespace

GlobalNames::GlobalNames() {
  texts_.emplace_back();
  by_text_.emplace(texts_.back(), 0);
}

void GlobalNames::add(std::span<const model::InternedString> strings) {
  const std::unique_lock lock(mutex_);
  std::map<int, std::size_t> added;
  for (const model::InternedString& string : strings) ++added[string.rank];
  for (const auto& [rank, count] : added) ranks_[rank].known += count;
  for (const model::InternedString& string : strings) {
    RankStrings& rank = ranks_[string.rank];
    if (string.id >
        std::min<std::size_t>(model::kMostStringId, kIdsOfAString * (rank.known + kSpareIds))) {
      continue;
    }
    if (string.id >= rank.numbers.size()) rank.numbers.resize(std::size_t{string.id} + 1);
    rank.numbers[string.id] = number_of(string.text);
  }
}

std::uint32_t GlobalNames::number_of(const std::string& text) {
  const auto found = by_text_.find(text);
  if (found != by_text_.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(texts_.size());
  texts_.push_back(text);
  by_text_.emplace(texts_.back(), number);
  return number;
}

std::uint32_t GlobalNames::find(int rank, model::StringId id) const {
  const auto found = ranks_.find(rank);
  if (found == ranks_.end() || id >= found->second.numbers.size()) return 0;
  return found->second.numbers[id];
}

std::uint32_t GlobalNames::number(int rank, model::StringId id) const {
  const std::shared_lock lock(mutex_);
  return find(rank, id);
}

std::string_view GlobalNames::text(int rank, model::StringId id) const {
  const std::shared_lock lock(mutex_);
  return texts_[find(rank, id)];
}

std::string_view GlobalNames::text(std::uint32_t number) const {
  const std::shared_lock lock(mutex_);
  return number < texts_.size() ? texts_[number] : texts_[0];
}

std::uint32_t GlobalNames::count() const {
  const std::shared_lock lock(mutex_);
  return static_cast<std::uint32_t>(texts_.size());
}

std::vector<std::uint32_t> GlobalNames::numbers(int rank) const {
  const std::shared_lock lock(mutex_);
  const auto found = ranks_.find(rank);
  return found == ranks_.end() ? std::vector<std::uint32_t>{} : found->second.numbers;
}

}  // namespace shardlens::trace::store
