// The predicted step under the measured one, on its scale; with the settings of the run on screen
// what bounds that alone. Interface thread, inside a frame.
#pragma once

#include "trace/timeline/values/picture.h"
#include "trace/timeline/values/timeline_rows.h"
#include "ui/inspect/timeline/timeline_window.h"
#include "ui/kit/theme.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::tune {

struct PredictedStepPlace {
  state::Rect rect;                   // what it has; before that is known, what there is
  float label_width = 0;              // as of the rows above
  const inspect::TimeWindow& window;  // of these rows, which count from `origin_ns`
  std::int64_t origin_ns = 0;
  std::int64_t shown_step = -1;
};
// Of what there is in a panel's body; 0: nothing is predicted, or there is no room.
float predicted_step_height(const kit::Theme& theme, const PredictedStepPlace& place,
                            const state::PredictionView* prediction);

// Until when the step on screen has something to show: absolute. INT64_MIN: nothing is predicted.
std::int64_t predicted_end_ns(const state::PredictionView* prediction,
                              const trace::timeline::StepPicture& shown);

void draw_predicted_step(const kit::Theme& theme, const PredictedStepPlace& place,
                         const state::PredictionView& prediction);

}  // namespace shardlens::ui::tune
