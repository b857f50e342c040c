// What a search looks into beside chunks, and where in the timeline its hits are. Any thread.
#pragma once

#include <vector>

#include "trace/explore/name_search.h"
#include "trace/explore/run_snapshot.h"
#include "trace/timeline/event_ref.h"

namespace shardlens::trace {

// Spans and collectives of all ranks; views into the snapshot, which outlives them.
std::vector<NamedRows> named_rows(const RunSnapshot& run);
// The timeline's row that shows an event; −1: none does.
int row_of_event(const RunSnapshot& run, const EventRef& event);

}  // namespace shardlens::trace
