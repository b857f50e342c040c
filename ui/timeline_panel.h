// One step on all ranks: phases, compute, communication, buckets, ribbon. Interface thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "ui/commands.h"
#include "ui/snapshot.h"
#include "ui/theme.h"
#include "ui/timeline_item.h"
#include "ui/timeline_rows.h"
#include "ui/timeline_view.h"

namespace shardlens::ui {

struct TimelineCanvas;

class TimelinePanel {
 public:
  void draw(const Look& look, const Rect& rect, const Snapshot& snapshot, Commands& commands);

  // Keys of the workspace.
  void fit() { view_.fit(); }
  void zoom(double factor) { view_.zoom(0.5, factor); }
  void pan(double fraction) { view_.pan(fraction); }
  void toggle_measure() {
    measuring_ = !measuring_;
    measured_.reset();
  }
  void clear();

  const TimelineView& view() const { return view_; }
  const std::optional<TimelineItem>& pinned() const { return pinned_; }

 private:
  void choose_timeline(const Snapshot& snapshot);
  void draw_content(const Look& look, const Rect& body, const trace::StepTimeline& timeline);
  void handle_mouse(const Look& look, const Rect& plot, float content_height);
  void draw_measure(const Look& look, const Rect& plot) const;
  void draw_scroll(const Look& look, const Rect& plot, float content_height) const;
  void mark_pinned(const TimelineCanvas& canvas, const RankRows& row, float top) const;

  struct Interval {
    double start_ns = 0, end_ns = 0;
  };

  TimelineView view_;
  std::map<int, bool> wishes_;
  // Stays while the run's next one is being read; what is pinned belongs to this run and step.
  std::shared_ptr<const trace::StepTimeline> shown_;
  std::string shown_run_;
  std::optional<TimelineItem> hovered_, pinned_;
  std::optional<Interval> measured_;
  bool measuring_ = false;
  bool dragged_ = false;
  float scroll_ = 0;
};

}  // namespace shardlens::ui
