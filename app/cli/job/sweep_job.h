// Sweeps and searches without a window: what is said before they start, their runs one after
// another, watched, stopped on a signal, summarised. Main thread.
#pragma once

#include <string>
#include <vector>

#include "app/launch/stop_signals.h"
#include "app/search/search_loop.h"
#include "app/sweep/sweep.h"

namespace shardlens::app::cli {

// The first of the points that were left out, then how many more; `what`: "do the same as others".
void print_left_out(const std::vector<std::string>& points, const std::string& what);
// Says that runs of a sweep save nothing, where the settings ask for checkpoints or a model.
void say_that_nothing_is_saved(const sweep::SweepPoints& points);

struct SweepDisplay {
  std::vector<std::string> banners;  // what makes all timings unlike a real job's
  std::string command_to_go_on;
  bool as_json = false;
};
// The banners that all jobs of the sweep have.
std::vector<std::string> common_banners(const sweep::PointJobs& jobs);

// Returns the exit code: 1 if a point has no result, unless the user stopped the sweep.
int run_sweep(sweep::Sweep& sweep, launch::StopSignals& signals, const SweepDisplay& display);
// The same of what a search asks for, within its budget: 1 if it found nothing. `grid`: has a
// search in its plan, and the points, first the one that it starts from; its own order is not
// followed.
int run_search(sweep::Sweep& grid, launch::StopSignals& signals,
               const search::ForecastSources& sources, const SweepDisplay& display);

}  // namespace shardlens::app::cli
