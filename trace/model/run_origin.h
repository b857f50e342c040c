// What is known of a run because of where it comes from. Any thread.
#pragma once

#include "trace/model/run_info.h"

namespace shardlens::trace::model {

// Whether `settings` are those of the job: of another program's they say nothing.
inline bool has_settings(const RunInfo& info) { return info.imported_from.empty(); }

}  // namespace shardlens::trace::model
