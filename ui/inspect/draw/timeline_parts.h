// What a timeline is drawn of besides its rows: heads and axis above them, labels beside them,
// marks over them, the steps of one rank, what the mouse is over. Interface thread, inside a frame.
#pragma once

#include <string>

#include "trace/model/bookmarks.h"
#include "trace/timeline/values/event_details.h"
#include "ui/inspect/draw/timeline_scene.h"
#include "ui/inspect/timeline/timeline_state.h"

namespace shardlens::ui::inspect {

// ---- timeline_axis_draw.cpp: above the rows ---------------------------------------------------

// Steps with number and length; returns the one under the mouse; null: none.
const trace::timeline::StepBorder* draw_step_heads(const TimelineScene& scene);
// What the time axis counts from, and its name, left of the axis: the start of the run, or of the
// first step in sight where few are.
struct AxisOrigin {
  std::int64_t time_ns = 0;
  std::string name;
};
AxisOrigin axis_origin(const TimelineScene& scene, bool from_run);
void draw_axis(const TimelineScene& scene, const AxisOrigin& origin);
// Of every rank over its own rows.
void draw_step_borders(const TimelineScene& scene);

// ---- timeline_labels_draw.cpp: left of the rows -----------------------------------------------

// A click folds.
void draw_labels(const TimelineScene& scene, const RowLayout& layout, TimelineState& state);

// ---- timeline_marks_draw.cpp: over and beside the rows ----------------------------------------

// A stretch of time with its length as label.
void draw_interval(const TimelineScene& scene, const trace::base::Interval& interval, bool measure,
                   TimelineState::Mode mode);
// Where the mouse is, over all rows, with its time above them, counted from `origin_ns`.
void draw_cursor(const TimelineScene& scene, std::int64_t origin_ns);
// Behind the rows: the one that the arrow keys move along.
void draw_selected_row(const TimelineScene& scene, int row);
void draw_bookmarks(const TimelineScene& scene, const trace::model::Bookmarks& bookmarks,
                    std::int64_t origin_ns);
// The outline of an event, or of what was pinned of one step.
void draw_picked(const TimelineScene& scene, const trace::timeline::EventPlace& picked);
// The same collective on the other ranks, the launch of a kernel. `details` are of the picked
// event.
void draw_connections(const TimelineScene& scene, const trace::timeline::EventDetails& details);
// Right of the rows: how much of them is in sight. `content`: height of all of them.
void draw_scroll(const TimelineScene& scene, float content, float scroll);

// ---- timeline_step_rows.cpp: the steps of one rank, aligned at their starts -------------------

// Places the rows of the steps that are in sight; returns the height of all steps.
float place_step_rows(TimelineScene& scene, int rank, const RowFilter& filter, float scroll);
// Number and length of each step left of it; the longest of all is marked. Behind each, its length.
void draw_step_labels(const TimelineScene& scene);

// ---- timeline_tooltip.cpp: what is known of one thing -----------------------------------------

// In a few lines beside the mouse.
void draw_timeline_tooltip(const TimelineScene& scene, const RowItem& item);
// On a card in the plot's corner; true when it was closed.
bool draw_timeline_card(const TimelineScene& scene, const RowItem& item);

}  // namespace shardlens::ui::inspect
