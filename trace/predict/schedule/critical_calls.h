// Which collectives bound a step: those that the rank which ends last waits for, and those that run
// right before them on the same lane. Between them it computes. Any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "trace/predict/schedule/step_program.h"

namespace shardlens::trace::predict {

// Places in the schedule's calls, ascending; empty: it never waits.
std::vector<std::size_t> critical_calls(const StepProgram& program, const StepSchedule& schedule);

// Of critical calls the last ones, each of which begins where the one before ends; the first of
// them. `critical` is not empty.
std::size_t last_train_begin(const StepSchedule& schedule,
                             const std::vector<std::size_t>& critical);

}  // namespace shardlens::trace::predict
