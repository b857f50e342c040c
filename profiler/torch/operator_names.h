// What one thread knows of the operators that it has met, so that it asks the recorder for each
// name only once. One thread; allocates only for a name that is new to it.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "profiler/recorder.h"
#include "profiler/string_interner.h"
#include "trace/model/events.h"

namespace shardlens::profiler {

class OperatorNames {
 public:
  struct Entry {
    trace::StringId id = 0;
    bool is_aten = false;
  };

  explicit OperatorNames(Recorder& recorder) : recorder_(recorder) {}

  // By text, not by address: names of spans live on the stack, where addresses come again.
  const Entry& find(std::string_view name) {
    if (const auto found = entries_.find(name); found != entries_.end()) return found->second;
    const Entry entry{recorder_.intern(name), name.starts_with("aten::")};
    return entries_.emplace(name, entry).first->second;
  }

 private:
  Recorder& recorder_;
  std::unordered_map<std::string, Entry, TextHash, std::equal_to<>> entries_;
};

}  // namespace shardlens::profiler
