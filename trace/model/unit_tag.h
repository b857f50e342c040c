// How the tags of a unit's collectives are worded: "blocks.3 forward gather, prefetched".
#pragma once

#include <string_view>

namespace shardlens::trace::model {

// What the tag of a gather ends with that was asked for ahead of need.
inline constexpr std::string_view kPrefetchedEnding = ", prefetched";

}  // namespace shardlens::trace::model
