// What one thread knows of the operators that it has met, so that it asks the recorder for each
// name only once. One thread; allocates only for a name that is new to it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiler/pytorch/dispatch_cost.h"
#include "profiler/recorder/recorder.h"
#include "profiler/recorder/string_interner.h"
#include "trace/model/events.h"

namespace shardlens::profiler::pytorch {

class OperatorNames {
 public:
  struct Entry {
    trace::model::StringId id = 0;
    bool is_aten = false;
    bool only_allocates = false;  // aten::empty and its kin, which others call for memory
    bool is_node = false;         // of autograd's graph
  };

  explicit OperatorNames(recorder::Recorder& recorder) : recorder_(recorder) {}

  const Entry& find(const char* name) {
    Recent& recent = recent_[slot_of(name)];
    // An address alone proves nothing: the names of spans live on the stack, where addresses come
    // again with another text.
    if (recent.address == name && std::strcmp(recent.text, name) == 0) return recent.entry;
    const auto& [text, entry] = find_by_text(name);
    recent = {name, text.c_str(), entry};
    return recent.entry;
  }

 private:
  // Most operators' names are constants, found here without hashing their text.
  struct Recent {
    const char* address = nullptr;
    const char* text = "";  // of entries_
    Entry entry;
  };
  using Entries = std::unordered_map<std::string, Entry, recorder::TextHash, std::equal_to<>>;
  static constexpr std::size_t kRecentCount = 512;

  static std::size_t slot_of(const char* name) {
    // Fibonacci hashing: neighbouring addresses spread over the slots.
    const auto address = reinterpret_cast<std::uintptr_t>(name);
    return (address * 0x9e37'79b9'7f4a'7c15ULL) >> 55;
  }
  static_assert(kRecentCount == 1ULL << (64 - 55));

  const Entries::value_type& find_by_text(std::string_view name) {
    if (const auto found = entries_.find(name); found != entries_.end()) return *found;
    const bool only_allocates = name.starts_with("aten::empty") ||
                                name.starts_with("aten::new_empty") ||
                                name.starts_with("aten::resize");
    const Entry entry{recorder_.intern(name), name.starts_with("aten::"), only_allocates,
                      name.starts_with(kNodePrefix)};
    return *entries_.emplace(name, entry).first;
  }

  recorder::Recorder& recorder_;
  std::vector<Recent> recent_ = std::vector<Recent>(kRecentCount);
  Entries entries_;
};

}  // namespace shardlens::profiler::pytorch
