// A job without a window: started, watched, stopped on a signal, summarised. Main thread.
#pragma once

#include "app/launch/job_request.h"

namespace shardlens::app::cli {

// Returns the exit code. `as_json`: standard output gets the report as JSON instead of as text.
int run_job(const launch::JobRequest& request, bool as_json);

}  // namespace shardlens::app::cli
