// Names of all ranks under one number each: every rank numbers its strings on its own. Any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/model/events.h"

namespace shardlens::trace::store {

class GlobalNames {
 public:
  GlobalNames();

  // Ids far beyond the number of a rank's strings are damage and have no name.
  void add(std::span<const model::InternedString> strings);

  // 0 and "" for what is not known. Texts live as long as this.
  std::uint32_t number(int rank, model::StringId id) const;
  std::string_view text(int rank, model::StringId id) const;
  std::string_view text(std::uint32_t number) const;
  std::uint32_t count() const;
  // By string id, for loops over many events.
  std::vector<std::uint32_t> numbers(int rank) const;

 private:
  struct RankStrings {
    std::vector<std::uint32_t> numbers;  // by id
    std::size_t known = 0;
  };
  std::uint32_t number_of(const std::string& text);
  std::uint32_t find(int rank, model::StringId id) const;

  mutable std::shared_mutex mutex_;
  std::deque<std::string> texts_;  // by number; what is in it stays where it is
  std::unordered_map<std::string_view, std::uint32_t> by_text_;
  std::map<int, RankStrings> ranks_;
};

}  // namespace shardlens::trace::store
