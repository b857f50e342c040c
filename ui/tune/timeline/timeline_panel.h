// One step on all ranks: phases, compute, communication, buckets, ribbon. Interface thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"
#include "ui/tune/timeline/timeline_item.h"
#include "ui/tune/timeline/timeline_rows.h"
#include "ui/tune/timeline/timeline_view.h"

namespace shardlens::ui {

struct TimelineCanvas;

class TimelinePanel {
 public:
  void draw(const Theme& theme, const Rect& rect, const Snapshot& snapshot, Commands& commands);

  // Keys of the workspace.
  void fit() { run_.view.fit(); }
  void zoom(double factor) { run_.view.zoom(0.5, factor); }
  void pan(double fraction) { run_.view.pan(fraction); }
  void toggle_measure() {
    measuring_ = !measuring_;
    run_.measured.reset();
  }
  void clear();

  const TimelineView& view() const { return run_.view; }
  const std::optional<TimelineItem>& pinned() const { return run_.pinned; }

 private:
  void choose_timeline(const Snapshot& snapshot);
  void draw_content(const Theme& theme, const Rect& body, const trace::StepTimeline& timeline);
  void handle_mouse(const Theme& theme, const Rect& plot, float content_height);
  void draw_measure(const Theme& theme, const Rect& plot) const;
  void draw_rest(const Theme& theme, const Rect& row, const Rect& plot, const TimelineRows& rows);
  void draw_scroll(const Theme& theme, const Rect& plot, float content_height) const;
  void mark_pinned(const TimelineCanvas& canvas, const RankRows& row, float top) const;

  struct Interval {
    double start_ns = 0, end_ns = 0;
  };

  // Everything that belongs to one run: replaced as a whole with the next one.
  struct OfRun {
    std::string folder;
    TimelineView view;
    RankWishes wishes;
    // Stays while the run's next one is being read; what is pinned belongs to this step.
    std::shared_ptr<const trace::StepTimeline> shown;
    std::optional<TimelineItem> hovered, pinned;
    std::optional<Interval> measured;
    bool dragged = false;
    float scroll = 0;
  };

  OfRun run_;
  bool measuring_ = false;
};

}  // namespace shardlens::ui
