// Looks after a job until it has ended: shows how far it is, ends it on a signal or where a rank
// hangs. Main thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "app/cli/job/run_monitor.h"
#include "app/launch/job_session.h"
#include "app/launch/stop_signals.h"

namespace shardlens::app::cli {

struct JobDisplay {
  std::function<void(const RunProgress&)> show;  // several times a second
  std::function<void(const std::string&)> say;   // now and then
};

// Where what a job half made is of use the first signal lets all ranks leave after the same step,
// and only the second kills them.
enum class OnSignal { kStopAfterStep, kKill };

// What is said after the first: ranks agree on stopping when they read the loss.
std::string stopping_text(std::int64_t loss_every);

struct WatchedJob {
  launch::JobStatus status;
  // A signal came, be it too late to stop this job: who has more of them begins no other.
  bool is_asked_to_stop = false;
};
WatchedJob watch_job(launch::JobSession& job, launch::StopSignals& signals, OnSignal on_signal,
                     const JobDisplay& display);

}  // namespace shardlens::app::cli
