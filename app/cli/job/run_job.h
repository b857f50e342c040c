// A job without a window: started, watched, stopped on a signal or where a rank hangs, summarised.
// Main thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "app/cli/job/progress_line.h"
#include "app/launch/job_session.h"
#include "app/launch/stop_signals.h"

namespace shardlens::app::cli {

// What is said after the first signal: ranks agree on stopping when they read the loss.
std::string stopping_text(std::int64_t loss_every);

struct WatchedJob {
  launch::JobStatus status;
  // A signal asked to stop, perhaps too late for this job: whoever has more jobs to run starts none
  // of them.
  bool is_asked_to_stop = false;
};
// `show`: called several times a second. `say`: where what a job half made is of use; the first
// signal, which is told there, lets all ranks leave after the same step, and only the second kills
// them. Without it the first one does.
WatchedJob watch_job(launch::JobSession& job, launch::StopSignals& signals,
                     const std::function<void(const RunProgress&)>& show,
                     const std::function<void(const std::string&)>& say = {});

// Returns the exit code, or why the job did not start. `as_json`: standard output gets the report
// as JSON instead of as text.
trace::base::Result<int> run_job(const launch::JobRequest& request, bool as_json);

}  // namespace shardlens::app::cli
