// What the values of a knob are predicted to do: the curve behind a slider, with the runs that were
// measured along it, and the hints at a choice or a checkbox. Free of ImGui; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ui/state/snapshot.h"

namespace shardlens::ui::present {

// Positions: x as of the slider, y from 0, at the bottom, to 1; both within 0..1.
struct KnobChart {
  struct Point {
    std::string value;  // of the knob
    float x = 0, y = 0;
    float low = 0, high = 0;       // of the change's interval; y where it is not known
    bool fits = true;              // in memory
    std::string step, difference;  // "404 ms", "+4.2 ms ± 1.6"
  };
  struct Measured {
    float x = 0, y = 0;
    std::string run, value, step;  // "run 3", "25", "404 ms"
  };
  struct Unpredicted {
    std::string value, why;
    float x = 0;
  };
  std::vector<Point> points;             // from left to right
  std::vector<Unpredicted> unpredicted;  // likewise
  // Of runs of the same job and machine as the one predicted from, which differ in nothing but this
  // knob.
  std::vector<Measured> measured;
  // Of the points that fit and are surely faster than the value that is set, the surest.
  std::optional<std::size_t> best;
  std::string why_no_best;  // else; "" where that says nothing
  // Step times at the bottom and at the top: "120 to 180 ms", with "per sample" where steps differ
  // in samples.
  std::string range;
  std::string why_unsure;  // where no point has an interval: a sentence; else ""
  std::string against;     // the run that differences are to: "run 4"
};

// Of each knob with a slider: runs of that machine that differ from the settings for the next one
// in nothing else that acts.
state::MeasuredRuns measured_runs(const state::Ledger& ledger, const trace::job::Settings& next);

// None: nothing is predicted along this knob. Without points: that is being worked out.
std::optional<KnobChart> knob_chart(const state::Snapshot& snapshot, const trace::job::Knob& knob);

// Why a slider has no curve; "" where it has one, or nothing at all is predicted from the run.
std::string why_no_curve(const state::Snapshot& snapshot, const trace::job::Knob& knob);

// Of one value; null: not predicted, or not yet.
const trace::tuning::CurvePoint* predicted_choice(const state::Snapshot& snapshot,
                                                  const trace::job::Knob& knob,
                                                  std::string_view value);
// Else why it is not, a sentence or more; "": nothing tells.
std::string why_not_predicted(const state::Snapshot& snapshot, const trace::job::Knob& knob,
                              std::string_view value);
// "449.8 ms, +52 ms ± 10 against run 4": the time of a step, or of a sample where steps differ in
// samples.
std::string choice_text(const state::Snapshot& snapshot, const trace::job::Knob& knob,
                        const trace::tuning::CurvePoint& point);

struct ChoiceHint {
  std::string value;  // to set
  std::string text;   // "true: −27.4 ms ± 4.3"
};
// Of those that fit and are surely faster than the one that is set, the surest.
std::optional<ChoiceHint> choice_hint(const state::Snapshot& snapshot,
                                      const trace::job::Knob& knob);

}  // namespace shardlens::ui::present
