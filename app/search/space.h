// What a search tries: the points of a grid around the settings that it starts from. Any thread.
#pragma once

#include <string>
#include <vector>

#include "app/search/forecast.h"
#include "app/sweep/sweep_points.h"
#include "trace/base/result.h"
#include "trace/job/settings/settings.h"

namespace shardlens::app::search {

// The strategies that train the same as `base` does: all without groups of ranks, and its own,
// which is the only one of a single rank. One that does not learn the same
// (trace/job/shape/strategy.h) is not among them.
std::vector<trace::job::Strategy> default_strategies(const trace::job::Settings& base);

// What `strategy` obeys, serves the goal and leaves what is learnt in a step as it is; for tokens
// per second batches, too. As grid_of() reads them.
std::vector<std::string> default_axes(const trace::job::Settings& base,
                                      trace::job::Strategy strategy, Goal goal);

// The settings that it starts from, and then what serves the goal, strategy by strategy: with each
// only the knobs that it obeys vary. Error kUsage: nothing serves it, since one rank reduces
// nothing.
trace::base::Result<sweep::SweepPoints> default_points(const trace::job::Settings& base, Goal goal);

// The settings that it starts from, and then the others of the grid. Errors (kUsage): those of
// grid_of().
trace::base::Result<sweep::SweepPoints> search_points(const trace::job::Settings& base,
                                                      const std::vector<std::string>& axes);

// What a search is called if nobody says: "tune for step_time", or by what it varies.
std::string default_name(Goal goal, const std::vector<std::string>& axes);

}  // namespace shardlens::app::search
