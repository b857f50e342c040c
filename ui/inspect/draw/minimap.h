// The whole run in one strip, and which part of it the timeline shows. Interface thread.
#pragma once

#include <memory>

#include "ui/inspect/timeline/timeline_means.h"
#include "ui/inspect/timeline/timeline_state.h"
#include "ui/inspect/timeline/timeline_steps.h"
#include "ui/kit/theme.h"
#include "ui/state/inspect_view.h"

namespace shardlens::ui::inspect {

class Minimap {
 public:
  void draw(const kit::Theme& theme, const state::Rect& rect, const state::InspectView& view,
            const StepIndex& steps, TimelineState& state);
  void forget_run() { *this = {}; }

 private:
  enum class Grip : std::uint8_t { kNone, kStart, kEnd, kWhole };
  void use_mouse(const kit::Theme& theme, const state::Rect& strip, const StepIndex& steps,
                 const TimeWindow& whole, TimelineState& state);

  void draw_overview(const kit::Theme& theme, const state::Rect& strip,
                     const state::InspectView& view, const StepIndex& steps,
                     const TimeWindow& whole);

  std::shared_ptr<const trace::timeline::TimelinePicture> overview_;
  RowMeans means_;  // of it
  Grip grip_ = Grip::kNone;
  double grabbed_ = 0;  // where in the frame, as a fraction of the run
};

}  // namespace shardlens::ui::inspect
