// All that is known of one event, with links to what belongs to it. Any thread; takes milliseconds,
// to tenths of a second where every event of a rank must be compared.
#pragma once

#include "trace/base/result.h"
#include "trace/explore/run/run_snapshot.h"
#include "trace/timeline/values/event_details.h"

namespace shardlens::trace::explore {

// Errors: kMissing for what is not in the trace; those of reading its chunk.
base::Result<timeline::EventDetails> event_details(const RunSnapshot& run,
                                                   const timeline::EventRef& event);

namespace detail {
base::Result<timeline::EventDetails> bulk_details(const RunSnapshot& run, const RankSnapshot& rank,
                                                  const timeline::EventRef& event);
base::Result<timeline::EventDetails> span_details(const RunSnapshot& run, const RankSnapshot& rank,
                                                  const timeline::EventRef& event);
base::Result<timeline::EventDetails> collective_details(const RunSnapshot& run,
                                                        const RankSnapshot& rank,
                                                        const timeline::EventRef& event);
}  // namespace detail

}  // namespace shardlens::trace::explore
