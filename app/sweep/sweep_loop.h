// What runs a sweep to its end, whoever starts its jobs: the command line, or the window's queue.
// One thread at a time; waits for the runs.
#pragma once

#include <functional>

#include "app/sweep/sweep.h"

namespace shardlens::app::sweep {

struct SweepDriver {
  std::function<bool()> wants_to_stop;  // asked before each run
  // From its start to its end. Error: it could not be started, after which it can be resumed.
  std::function<trace::base::Result<launch::JobStatus>(Slot, const launch::JobRequest&)> run;
  std::function<void(Slot)> counted;  // what came of the run is among the results, on disk
};

// What is left of it. False: its user stopped it. Errors: those of the sweep and of the driver.
trace::base::Result<bool> run_to_end(Sweep& sweep, const SweepDriver& driver);

}  // namespace shardlens::app::sweep
