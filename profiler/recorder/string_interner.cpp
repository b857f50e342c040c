#include "profiler/recorder/string_interner.h"

#include <utility>

namespace shardlens::profiler::recorder {

trace::model::StringId StringInterner::intern(std::string_view text) {
  if (text.empty()) return 0;
  const std::lock_guard lock(mutex_);
  if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
  const auto id = static_cast<trace::model::StringId>(ids_.size() + 1);
  ids_.emplace(text, id);
  new_.push_back({rank_, id, std::string(text)});
  return id;
}

std::vector<trace::model::InternedString> StringInterner::take_new() {
  const std::lock_guard lock(mutex_);
  return std::exchange(new_, {});
}

}  // namespace shardlens::profiler::recorder
