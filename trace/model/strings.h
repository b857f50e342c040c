// The strings of all ranks of a run, by rank and id. Not thread-safe: one owner, or const.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/model/events.h"

namespace shardlens::trace::model {

class StringTable {
 public:
  void add(const InternedString& string);
  // "" for id 0 and for an unknown id, which only a damaged file has.
  std::string_view get(int rank, StringId id) const;

 private:
  std::vector<std::vector<std::string>> by_rank_;
};

}  // namespace shardlens::trace::model
