// The few texts that figures carry: sizes, durations and what a collective was for. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/model/events.h"

namespace shardlens::trace::analysis {

std::string bytes_text(std::int64_t bytes);  // "16 B", "4.0 MiB", "147 MiB"
// "rank 1", "ranks 0 and 2", "ranks 0, 2 and 3"
std::string ranks_text(const std::vector<int>& ranks);
std::string duration_text(std::int64_t nanoseconds);  // "850 ns", "42.1 ms", "3.25 s"

// "bucket 3", "blocks.6 forward gather", "loss"; "" for none.
std::string tag_text(model::TagKind kind, int index, std::string_view name);
// The same, or the function's name where there is no tag.
std::string collective_label(const model::Collective& collective, std::string_view tag_name);

}  // namespace shardlens::trace::analysis
