// What lies over and beside the rows: selection, measure, the picked event's outline and what
// belongs to it. Interface thread, inside a frame.
#pragma once

#include "trace/model/bookmarks.h"
#include "trace/timeline/values/event_details.h"
#include "ui/inspect/draw/timeline_scene.h"
#include "ui/inspect/timeline/timeline_state.h"

namespace shardlens::ui::inspect {

// A stretch of time with its length as label.
void draw_interval(const TimelineScene& scene, const TimeInterval& interval, bool measure,
                   TimelineState::Mode mode);
// Where the mouse is, over all rows, with its time above them, counted from `origin_ns`.
void draw_cursor(const TimelineScene& scene, std::int64_t origin_ns);
// Behind the rows: the one that the arrow keys move along.
void draw_selected_row(const TimelineScene& scene, int row);
void draw_bookmarks(const TimelineScene& scene, const trace::model::Bookmarks& bookmarks,
                    std::int64_t origin_ns);
// An event, or what was pinned of one step.
void draw_picked(const TimelineScene& scene, const trace::timeline::EventPlace& picked);
// The same collective on the other ranks, the launch of a kernel. `details` are of the picked
// event.
void draw_connections(const TimelineScene& scene, const trace::timeline::EventDetails& details);
// Right of the rows: how much of them is in sight. `content`: height of all of them.
void draw_scroll(const TimelineScene& scene, float content, float scroll);

}  // namespace shardlens::ui::inspect
