// A job without a window: started, watched, stopped on a signal, summarised. Main thread.
#pragma once

#include "app/launch/job_request.h"
#include "trace/base/result.h"

namespace shardlens::app::cli {

// Returns the exit code, or why the job did not start. `as_json`: standard output gets the report
// as JSON instead of as text.
trace::base::Result<int> run_job(const launch::JobRequest& request, bool as_json);

}  // namespace shardlens::app::cli
