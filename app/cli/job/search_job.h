// Runs what a search asks for, one run after another, within its budget. Main thread.
#pragma once

#include <string>
#include <vector>

#include "app/launch/stop_signals.h"
#include "app/search/search_loop.h"

namespace shardlens::app::cli {

struct SearchOrder {
  search::ForecastSources sources;
  std::vector<std::string> banners;
  std::string command_to_go_on;
  bool as_json = false;
};

// `grid`: has a search in its plan, and the points, first the one that it starts from; its own
// order is not followed. Prints the result; returns the exit code.
int run_search(sweep::Sweep& grid, launch::StopSignals& signals, const SearchOrder& order);

}  // namespace shardlens::app::cli
