// The few texts that figures carry: ranks, and what a collective was for. Any thread.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/text.h"
#include "trace/model/events.h"

namespace shardlens::trace::analysis {

// "rank 1", "ranks 0 and 2", "ranks 0, 2 and 3"
std::string ranks_text(const std::vector<int>& ranks);

// "bucket 3", "blocks.6 forward gather", "loss"; "" for none.
std::string tag_text(model::TagKind kind, int index, std::string_view name);
// The same, or the function's name where there is no tag.
std::string collective_label(const model::Collective& collective, std::string_view tag_name);

// The few different texts that a column of many rows holds, in the order in which they came. One
// owner.
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
