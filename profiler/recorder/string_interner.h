// Gives each text of a rank its id, once. Any thread; locks.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/model/events.h"

namespace shardlens::profiler::recorder {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

class StringInterner {
 public:
  explicit StringInterner(int rank) : rank_(rank) {}

  trace::model::StringId intern(std::string_view text) {
    if (text.empty()) return 0;
    const std::lock_guard lock(mutex_);
    if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
    const auto id = static_cast<trace::model::StringId>(ids_.size() + 1);
    ids_.emplace(text, id);
    new_.push_back({rank_, id, std::string(text)});
    return id;
  }
  // The strings added since the last call. Taken after the rows that use them, so that no row is
  // ever written before its string.
  std::vector<trace::model::InternedString> take_new() {
    const std::lock_guard lock(mutex_);
    return std::exchange(new_, {});
  }

 private:
  const int rank_;
  std::mutex mutex_;
  std::unordered_map<std::string, trace::model::StringId, TextHash, std::equal_to<>> ids_;
  std::vector<trace::model::InternedString> new_;
};

}  // namespace shardlens::profiler::recorder
