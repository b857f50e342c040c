// What a command does with the points of a grid before anything starts. Main thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/sweep/sweep_points.h"

namespace shardlens::app::cli {

inline constexpr std::size_t kPointsNamed = 4;  // where many are left out

void keep_only(const std::vector<bool>& keep, sweep::SweepPoints& points, sweep::PointJobs& jobs);
// Points that do the same as one before them, which is said. For jobs without errors.
void leave_out_doubles(sweep::SweepPoints& points, sweep::PointJobs& jobs);
// Those that all jobs have.
std::vector<std::string> common_banners(const sweep::PointJobs& jobs);

}  // namespace shardlens::app::cli
