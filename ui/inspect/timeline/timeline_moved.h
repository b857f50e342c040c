// Where things lie in a view of aligned ranks, whose rows are moved to where the others' steps are,
// and what of each rank lies there. Free of ImGui; interface thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "trace/timeline/values/event_ref.h"
#include "trace/timeline/values/picture.h"
#include "trace/timeline/values/range_figures.h"
#include "trace/timeline/values/timeline_rows.h"
#include "ui/inspect/timeline/timeline_state.h"
#include "ui/inspect/timeline/timeline_steps.h"

namespace shardlens::ui::inspect {

TimeInterval shown_event(const TimelineState& state, const trace::timeline::TimelineRows& rows,
                         const StepIndex& steps, const trace::timeline::EventPlace& place);
// Of what lies there on the clock of its rank, all in one; none: nothing does.
std::optional<TimeInterval> shown_ranges(const TimelineState& state, const StepIndex& steps,
                                         std::span<const trace::timeline::TimeRange> ranges);
// Of all ranks that have the step; none: no rank has it.
std::optional<TimeInterval> shown_step(const TimelineState& state,
                                       const trace::timeline::TimelineRows& rows,
                                       const StepIndex& steps, std::int64_t step);
// What the selection covers of each rank; that of the whole run where nothing is selected.
trace::timeline::TimeRange selected_range(const TimelineState& state,
                                          const trace::timeline::TimelineRows& rows,
                                          const StepIndex& steps);

}  // namespace shardlens::ui::inspect
