// What the user made of the timeline: view state that toolbar, minimap and both modes share; and
// where things lie in it. Free of ImGui; interface thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "trace/base/intervals.h"
#include "trace/timeline/values/name_hits.h"
#include "trace/timeline/values/range_figures.h"
#include "ui/inspect/timeline/item_facts.h"
#include "ui/inspect/timeline/timeline_layout.h"
#include "ui/inspect/timeline/timeline_steps.h"
#include "ui/inspect/timeline/timeline_window.h"

namespace shardlens::ui::inspect {

struct PickedEvent {
  trace::timeline::EventPlace place;
  std::string name;
};

// What stays from run to run.
struct TimelineChoices {
  // kOneStep: of Tune, which shows no other.
  enum class Mode : std::uint8_t { kTime, kSteps, kOneStep } mode = Mode::kTime;
  bool aligned_by_step = false;  // else by the clock
  bool axis_from_run = false;    // else from the first step in sight, where few are
  RowFilter filter;
};

struct TimelineState : TimelineChoices {
  TimeWindow window;       // of time
  TimeWindow step_window;  // from the steps' starts
  RowFolds folds;
  float scroll = 0, step_scroll = 0;
  int step_rank = -1;  // in step mode; -1: the reference rank

  std::optional<trace::base::Interval> selection;
  std::optional<trace::base::Interval> measured;
  bool measuring = false;
  std::optional<PickedEvent> picked;
  std::optional<RowItem> pinned;  // of one step: its card is shown
  int selected_row = -1;
  // How far a replay has come: what is later is not shown.
  std::int64_t known_until_ns = INT64_MAX;

  TimeWindow& shown_window() { return mode == Mode::kTime ? window : step_window; }
  float& shown_scroll() { return mode == Mode::kTime ? scroll : step_scroll; }
};

// Where things lie while ranks are aligned: their rows are moved to where the others' steps are.
trace::base::Interval shown_event(const TimelineState& state,
                                  const trace::timeline::TimelineRows& rows, const StepIndex& steps,
                                  const trace::timeline::EventPlace& place);
// Where ranges on the clocks of their ranks lie on screen, as one interval around all of them;
// none: there are none.
std::optional<trace::base::Interval> shown_ranges(
    const TimelineState& state, const StepIndex& steps,
    std::span<const trace::timeline::TimeRange> ranges);
// Where a step lies on screen, of all ranks that have it; none: no rank has it.
std::optional<trace::base::Interval> shown_step(const TimelineState& state,
                                                const trace::timeline::TimelineRows& rows,
                                                const StepIndex& steps, std::int64_t step);
// What the selection covers of each rank; that of the whole run where nothing is selected.
trace::timeline::TimeRange selected_range(const TimelineState& state,
                                          const trace::timeline::TimelineRows& rows,
                                          const StepIndex& steps);

}  // namespace shardlens::ui::inspect
