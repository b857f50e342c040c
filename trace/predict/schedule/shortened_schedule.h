// The schedule of a step that was over sooner than that, drawn as much shorter. Any thread.
#pragma once

#include <cstdint>

#include "trace/predict/schedule/step_program.h"

namespace shardlens::trace::predict {

struct Shortening {
  double to = 1;            // of what it is, all that is not kept
  bool keeps_links = true;  // what calls need a simulated link for (PlannedCall::least_ns)
};

// By which the schedule, from `from_ns` on, ends at `end_ns`, which lies before its own end. Where
// the link alone would take longer than that, it is not kept.
Shortening shortening_to(const StepProgram& program, const StepSchedule& schedule,
                         std::int64_t from_ns, std::int64_t end_ns);

// All times that much nearer to `from_ns`, before which no call begins.
void shorten(const StepProgram& program, std::int64_t from_ns, const Shortening& by,
             StepSchedule& schedule);

}  // namespace shardlens::trace::predict
