// What recording in detail does to a job's time, as its own steps show it. Any thread.
#pragma once

#include <optional>
#include <vector>

#include "trace/analysis/figures.h"

namespace shardlens::trace {

// By how much a part of a job's time made the job longer than it would have been without.
double slowdown(double cost_ns, double time_ns);

// From measured steps with and without detail, if the schedule has enough of both, and if what lies
// between their medians is more than chance: else no figure at all would be better than this one.
std::optional<double> measured_slowdown(const std::vector<StepFigures>& steps);

}  // namespace shardlens::trace
