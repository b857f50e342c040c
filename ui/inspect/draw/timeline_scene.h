// One frame of the timeline, in either mode: which rows lie where, in which stretch of time, and
// what is known of them. Interface thread, inside a frame.
#pragma once

#include <string>
#include <vector>

#include "trace/timeline/values/timeline_rows.h"
#include "ui/inspect/draw/timeline_row_draw.h"
#include "ui/inspect/timeline/timeline_request.h"
#include "ui/inspect/timeline/timeline_steps.h"

namespace shardlens::ui::inspect {

struct TimelineScene {
  RowCanvas canvas;
  state::Rect labels;       // left of the plot
  state::Rect steps, axis;  // above it
  const trace::timeline::TimelineRows& rows;
  const StepIndex& borders;
  const PictureIndex& pictures;
  // An older picture of the whole run, for what the picture does not reach yet.
  const PictureIndex& backdrop;
  const std::string& name;                  // begins those of what can be clicked
  std::int64_t known_until_ns = INT64_MAX;  // how far a replay has come
  std::vector<RowPlace> places = {};        // on screen, from the top

  const kit::Theme& theme() const { return canvas.theme; }
  const state::Rect& plot() const { return canvas.plot; }
  state::Rect rows_area() const {  // the plot, and what names its rows
    return {labels.x, plot().y, plot().right() - labels.x, plot().h};
  }
  std::int64_t view_time_at(float x) const;
  // null: not on screen.
  const RowPlace* place_of(int row, std::int64_t time_ns) const;
  const RowPlace* place_at(float y) const;
  // Of times of the row, cut off beside it; `level` -1: all levels.
  state::Rect rect_of(const RowPlace& place, std::int64_t start_ns, std::int64_t end_ns,
                      int level) const;
  const trace::timeline::TimelineRow& row(int id) const {
    return rows.rows[static_cast<std::size_t>(id)];
  }
};

// Draws the rows; returns what the mouse is over.
std::optional<RowItem> draw_rows(const TimelineScene& scene);
// What the scene needs to be drawn.
trace::timeline::PictureRequest request_of(const TimelineScene& scene);

}  // namespace shardlens::ui::inspect
