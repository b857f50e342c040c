// What is known of the ranks' clocks, in words. Free of ImGui, any thread.
#pragma once

#include <span>
#include <string>

#include "trace/timeline/values/timeline_rows.h"

namespace shardlens::ui::inspect {

// One sentence about one rank's clock against the first rank's; "" where nothing is to be said.
std::string clock_text(const trace::timeline::TimelineRank& rank,
                       const trace::timeline::TimelineRank& first);
// About all of them: "All on host node-1: one clock."
std::string clocks_text(std::span<const trace::timeline::TimelineRank> ranks);

}  // namespace shardlens::ui::inspect
