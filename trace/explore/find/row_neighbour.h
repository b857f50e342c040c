// The event before or behind another one on its row and level of nesting. Any thread; decodes the
// chunks around it.
#pragma once

#include <optional>

#include "trace/explore/run/run_snapshot.h"
#include "trace/timeline/values/name_hits.h"

namespace shardlens::trace::explore {

// `direction` 1: behind it, −1: before it. None: it is the last or first one, or cannot be found.
std::optional<timeline::EventPlace> row_neighbour(const RunSnapshot& run,
                                                  const timeline::EventRef& event, int direction);

}  // namespace shardlens::trace::explore
