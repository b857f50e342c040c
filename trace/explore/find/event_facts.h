// All that is known of one event, with links to what belongs to it. Any thread; takes milliseconds,
// to tenths of a second where every event of a rank must be compared.
#pragma once

#include "trace/base/result.h"
#include "trace/explore/run/run_snapshot.h"
#include "trace/timeline/values/event_details.h"

namespace shardlens::trace {

// Errors: kMissing for what is not in the trace; those of reading its chunk.
Result<EventDetails> event_details(const RunSnapshot& run, const EventRef& event);

namespace detail {
Result<EventDetails> bulk_details(const RunSnapshot& run, const RankSnapshot& rank,
                                  const EventRef& event);
Result<EventDetails> span_details(const RunSnapshot& run, const RankSnapshot& rank,
                                  const EventRef& event);
Result<EventDetails> collective_details(const RunSnapshot& run, const RankSnapshot& rank,
                                        const EventRef& event);
}  // namespace detail

}  // namespace shardlens::trace
