// The few texts that figures carry: ranks, and what a collective was for. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/model/events.h"

namespace shardlens::trace::analysis {

// "rank 1", "ranks 0 and 2", "ranks 0, 2 and 3"
std::string ranks_text(const std::vector<int>& ranks);

// "bucket 3", "blocks.6 forward gather", "loss"; "" for none.
std::string tag_text(model::TagKind kind, int index, std::string_view name);
// The same, or the function's name where there is no tag.
std::string collective_label(const model::Collective& collective, std::string_view tag_name);

}  // namespace shardlens::trace::analysis
