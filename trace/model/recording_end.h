// How a rank's file says that nothing of what was recorded is missing at its end. Any thread.
#pragma once

#include <string_view>

namespace shardlens::trace::model {

// Among the strings of the last commit of a rank whose sources had given all that they held before
// its recorder stopped. One that was killed, or that saved what it could in haste, lacks it.
inline constexpr std::string_view kClosedInOrder = "shardlens: closed in order";

// Behind the `sources` of a rank that does not know yet how its recording ends.
inline constexpr std::string_view kEndNotTold = "; its end: not recorded";

}  // namespace shardlens::trace::model
