// The rows of one rank, and the timeline's axis. Interface thread, inside a frame.
#pragma once

#include <optional>

#include "ui/kit/theme.h"
#include "ui/tune/timeline/timeline_item.h"
#include "ui/tune/timeline/timeline_rows.h"
#include "ui/tune/timeline/timeline_view.h"

namespace shardlens::ui {

struct TimelineCanvas {
  const Theme& theme;
  const TimelineView& view;
  const RowHeights& heights;
  Rect plot;  // where bars are; labels stand left of it
  Rect labels;
  float mouse_x = 0, mouse_y = 0;
  bool mouse_inside = false;

  float x(double ns) const { return view.x_from_time(ns, plot.x, plot.w); }
};

// `top`: screen position of the first rank. Returns what the mouse is over.
std::optional<TimelineItem> draw_rank(const TimelineCanvas& canvas, const RankRows& rows, float top,
                                      const trace::RankTimeline& rank);

void draw_time_axis(const TimelineCanvas& canvas, const Rect& axis, double step_end_ns);

// Definitions and figures of an item at the mouse.
void draw_item_tooltip(const Theme& theme, const TimelineItem& item, std::int64_t step);

// The same for the item that was clicked, in the plot's corner; true when it was closed.
bool draw_item_card(const Theme& theme, const Rect& plot, const TimelineItem& item,
                    std::int64_t step);

}  // namespace shardlens::ui
