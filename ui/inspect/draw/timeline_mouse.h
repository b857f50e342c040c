// The timeline by mouse and by keyboard: zoom, pan, select, measure, pick. Interface thread, inside
// a frame.
#pragma once

#include <optional>

#include "ui/inspect/draw/timeline_scene.h"
#include "ui/inspect/timeline/timeline_state.h"
#include "ui/state/commands.h"

namespace shardlens::ui::inspect {

class TimelineMouse {
 public:
  // Before the rows are drawn: moves the window. `content`: height of all rows.
  void move(const TimelineScene& scene, float content, TimelineState& state);
  // Behind them: `hovered` is what the mouse is over, `step` the one under it above the rows.
  void act(const TimelineScene& scene, const std::optional<RowItem>& hovered,
           const trace::timeline::StepBorder* step, TimelineState& state,
           state::Commands& commands);
  // Nothing is held, so that a tooltip does not hide what is being done.
  bool is_idle() const { return drag_ == Drag::kNone; }

 private:
  enum class Drag : std::uint8_t { kNone, kPress, kPan, kSelect, kMeasure };

  void scroll_wheel(const TimelineScene& scene, TimelineState& state) const;
  // Under the mouse, in the time in which intervals are kept: of the view where rows are moved to
  // it, else the step's own.
  std::int64_t measured_time(const TimelineScene& scene, float x, TimelineState::Mode mode) const;
  void begin(const TimelineScene& scene, bool on_axis, TimelineState& state);
  void drag(const TimelineScene& scene, TimelineState& state);
  void release(TimelineState& state);

  Drag drag_ = Drag::kNone;
  bool moved_ = false;
  bool hovers_ = false, hovers_axis_ = false, clicked_ = false, double_clicked_ = false;
  std::int64_t anchor_ns_ = 0;  // absolute, where a selection or measure began
  std::int64_t shift_ns_ = 0;   // of the row in which it began
};

// The wheel over a plot of `window`: zooms at the mouse, and pans where it turns sideways.
void turn_wheel(const state::Rect& plot, TimeWindow& window);

// What picking an event does to the view's own state.
void pick(const RowItem& item, TimelineState& state, state::Commands& commands);

// ---- by keyboard ------------------------------------------------------------------------------

// Zoom and pan, at the pointer where it is over the timeline; measure; Esc.
void use_window_keys(const TimelineScene& scene, TimelineState& state, state::Commands& commands);
// All of them but Enter, which is the board's.
void use_timeline_keys(const TimelineScene& scene, const RowLayout& layout, TimelineState& state,
                       state::Commands& commands);

// What keys and the command palette have in common.
void toggle_measure(TimelineState& state);
void clear_marks(TimelineState& state, state::Commands& commands);

}  // namespace shardlens::ui::inspect
