// What a search on this machine learns from: recorded runs, and models' shapes for memory. Any
// thread; waits for the disk.
#pragma once

#include "app/search/forecast.h"
#include "app/session/jobs/strategy_planner.h"

namespace shardlens::app::session {

search::ForecastSources forecast_sources(const Machine& machine);

}  // namespace shardlens::app::session
