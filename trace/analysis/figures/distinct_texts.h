// The few different texts that a column of many rows holds, in the order in which they came. One
// owner.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/text.h"

namespace shardlens::trace::analysis {

class DistinctTexts {
 public:
  void add(std::string_view text) {
    if (text.empty() || (!texts_.empty() && texts_.back() == text)) return;
    if (texts_.size() >= kMost || std::ranges::find(texts_, text) != texts_.end()) return;
    texts_.emplace_back(text);
  }
  // "RING, TREE"; "" for none.
  std::string joined() const { return base::joined(texts_); }

 private:
  static constexpr std::size_t kMost = 8;  // NCCL has fewer; a damaged file may have more
  std::vector<std::string> texts_;
};

}  // namespace shardlens::trace::analysis
