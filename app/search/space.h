// What a search tries: the points of a grid around the settings that it starts from. Any thread.
#pragma once

#include <string>
#include <vector>

#include "app/search/forecast.h"
#include "app/sweep/sweep_points.h"
#include "trace/base/result.h"
#include "trace/job/settings/settings.h"

namespace shardlens::app::search {

// As grid_of() reads them: what may serve the goal and leaves what is learnt in a step as it is;
// for tokens per second batches, too. What the strategy does not obey is left out.
std::vector<std::string> default_axes(const trace::job::Settings& base, Goal goal);

// The settings that it starts from, and then the others of the grid. Errors (kUsage): those of
// grid_of().
trace::base::Result<sweep::SweepPoints> search_points(const trace::job::Settings& base,
                                                      const std::vector<std::string>& axes);

}  // namespace shardlens::app::search
