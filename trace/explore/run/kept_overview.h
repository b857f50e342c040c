// A rank's overview as bytes, for what is kept with a run. Pure functions, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trace/explore/run/rank_overview.h"

namespace shardlens::trace::explore {

std::string packed_overview(const OverviewRows& rows);
// None for what is no such thing.
std::optional<OverviewRows> unpacked_overview(std::string_view bytes);

}  // namespace shardlens::trace::explore
