// What is predicted of the settings for the next run, from the run on screen. Plain values,
// published by `app`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trace/tuning/knob_curve.h"
#include "trace/tuning/prediction.h"

namespace shardlens::ui::state {

// Along a knob's curve.
struct MeasuredRun {
  std::string value, run;  // the knob's, and "run 3"
  double step_ns = 0;      // divided as the curve's times are
};
using MeasuredRuns = std::map<const trace::job::Knob*, std::vector<MeasuredRun>>;

struct PredictionView {
  std::string folder, ordinal;  // of the run that it is made from: "run 4"
  // None: `refused` says why, as where nothing is changed but knobs whose effect is not known.
  std::optional<trace::tuning::Prediction> prediction{};
  std::optional<trace::tuning::PredictedStep> step{};  // the selected one, or a typical one
  std::string refused{};
  bool may_come = false;  // a prediction, once the run has more steps
  // Of knobs with a slider; without points while they are worked out.
  std::vector<trace::tuning::KnobCurve> curves{};
  MeasuredRuns measured{};  // along them
  // Likewise, of each value of knobs that are a choice or a checkbox.
  std::vector<trace::tuning::KnobCurve> choices{};
  // Of sliders of which one value at most is predicted, why not others: a sentence or more.
  std::map<const trace::job::Knob*, std::string> why_no_curve{};
};

}  // namespace shardlens::ui::state
