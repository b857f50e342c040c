// A sweep without a window: its runs one after another, watched, stopped on a signal, summarised.
// Main thread.
#pragma once

#include <string>
#include <vector>

#include "app/launch/stop_signals.h"
#include "app/sweep/sweep.h"

namespace shardlens::app::cli {

struct SweepDisplay {
  std::vector<std::string> banners;  // what makes all timings unlike a real job's
  std::string command_to_go_on;
  bool as_json = false;
};

// Returns the exit code: 1 if a point has no result, unless the user stopped the sweep.
int run_sweep(sweep::Sweep& sweep, launch::StopSignals& signals, const SweepDisplay& display);

}  // namespace shardlens::app::cli
