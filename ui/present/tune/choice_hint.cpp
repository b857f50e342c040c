#include "ui/present/tune/choice_hint.h"

#include <algorithm>

#include "trace/tuning/knob_curve.h"
#include "ui/present/format.h"
#include "ui/present/tune/prediction_text.h"

namespace shardlens::ui::present {

using trace::tuning::CurvePoint;
using trace::tuning::KnobCurve;

namespace {

const KnobCurve* curve_of(const state::Snapshot& snapshot, const trace::job::Knob& knob) {
  if (!snapshot.prediction) return nullptr;
  const auto& choices = snapshot.prediction->choices;
  const auto found = std::ranges::find(choices, &knob, &KnobCurve::knob);
  return found == choices.end() ? nullptr : &*found;
}

}  // namespace

const CurvePoint* predicted_choice(const state::Snapshot& snapshot, const trace::job::Knob& knob,
                                   std::string_view value) {
  const KnobCurve* curve = curve_of(snapshot, knob);
  if (curve == nullptr) return nullptr;
  const auto found = std::ranges::find(curve->points, value, &CurvePoint::text);
  return found == curve->points.end() ? nullptr : &*found;
}

std::string why_not_predicted(const state::Snapshot& snapshot, const trace::job::Knob& knob,
                              std::string_view value) {
  const KnobCurve* curve = curve_of(snapshot, knob);
  if (curve == nullptr) return "";
  const auto found = std::ranges::find(curve->unpredicted, value, &KnobCurve::Unpredicted::text);
  return found == curve->unpredicted.end() ? "" : found->why;
}

std::string choice_text(const state::Snapshot& snapshot, const trace::job::Knob& knob,
                        const CurvePoint& point) {
  const KnobCurve& curve = *curve_of(snapshot, knob);
  const std::string time = format_duration(point.step_ns).text();
  const double more_ns = point.step_ns - curve.recorded_step_ns;
  if (more_ns == 0) return time + ", as measured";
  const std::string& run = snapshot.prediction->ordinal;
  return time + ", " + difference_text(more_ns, point.difference) + " against " +
         (run.empty() ? "the run on screen" : run);
}

std::optional<ChoiceHint> choice_hint(const state::Snapshot& snapshot,
                                      const trace::job::Knob& knob) {
  const KnobCurve* curve = curve_of(snapshot, knob);
  const CurvePoint* now =
      predicted_choice(snapshot, knob, trace::job::value_text(snapshot.knobs.next, knob));
  if (now == nullptr) return std::nullopt;
  const auto surest = trace::tuning::surest_faster(*curve, *now);
  if (!surest) return std::nullopt;
  const CurvePoint& best = curve->points[*surest];
  // Of the difference between two predictions it is not known how sure that is.
  const bool are_both_predicted = best.difference && now->step_ns != curve->recorded_step_ns;
  const auto interval = are_both_predicted ? std::nullopt
                        : best.difference  ? best.difference
                                           : now->difference;
  return ChoiceHint{best.text,
                    best.text + ": " + difference_text(best.step_ns - now->step_ns, interval)};
}

}  // namespace shardlens::ui::present
