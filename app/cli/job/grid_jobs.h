// What a command says of the points of a grid before anything starts. Main thread.
#pragma once

#include <string>
#include <vector>

#include "app/sweep/sweep_points.h"

namespace shardlens::app::cli {

// The first of the points that were left out, then how many more; `what`: "do the same as others".
void print_left_out(const std::vector<std::string>& points, const std::string& what);
// Where the runs would save checkpoints or models but for their being a sweep's.
void say_that_nothing_is_saved(const sweep::SweepPoints& points);
// Those that all jobs have.
std::vector<std::string> common_banners(const sweep::PointJobs& jobs);

}  // namespace shardlens::app::cli
