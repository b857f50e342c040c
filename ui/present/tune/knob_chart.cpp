#include "ui/present/tune/knob_chart.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "trace/tuning/knob_curve.h"
#include "trace/tuning/predictable.h"
#include "ui/present/axis.h"
#include "ui/present/format.h"
#include "ui/present/step_chart.h"
#include "ui/present/tune/knob_rows.h"
#include "ui/present/tune/prediction_text.h"

namespace shardlens::ui::present {

using trace::tuning::CurvePoint;
using trace::tuning::KnobCurve;

namespace {

using state::MeasuredRun;
using trace::job::Knob;
using trace::job::Settings;

constexpr double kLeastRange = 0.02;  // of the step time: less would show noise as a mountain
constexpr double kMargin = 0.08;      // of the range, above and below

std::string step_text(const KnobCurve& curve, double ns) {
  using Per = KnobCurve::Per;
  const std::string_view per = curve.per == Per::kSample  ? " per sample"
                               : curve.per == Per::kToken ? " per token"
                                                          : "";
  return format_duration(ns).text() + std::string(per);
}

double as_number(const std::string& value) { return std::strtod(value.c_str(), nullptr); }

bool is_measured(const state::LedgerRow& row) {
  return !row.is_imported && row.status == trace::model::RunStatus::kDone &&
         row.summary.step_ns.count > 0;
}

// What the settings for the next run change of a step of this one's. None: that cannot be told.
std::optional<std::vector<trace::tuning::Change>> changes_of(const state::LedgerRow& row,
                                                             const Settings& next) {
  trace::model::RunInfo info;
  info.world_size = row.ranks;
  info.device = row.on_gpu ? "cuda" : "cpu";
  info.settings = row.settings;
  auto changes = trace::tuning::changes_to(info, next);
  if (!changes || !changes->unknown.empty()) return std::nullopt;
  return std::move(changes->known);
}

// Whether nothing but `knob` changes, and what follows from that.
bool is_along(const std::vector<trace::tuning::Change>& changes, const Knob& knob) {
  return std::ranges::all_of(changes, [&](const trace::tuning::Change& change) {
    return change.knob == &knob || change.is_implied;
  });
}

std::vector<const Knob*> knobs_with_curve() {
  std::vector<const Knob*> found;
  for (const Knob& knob : trace::job::knobs()) {
    const bool has_slider = control_of(knob) == KnobControl::kSliderInput;
    if (has_slider && trace::tuning::is_predictable(knob)) found.push_back(&knob);
  }
  return found;
}

// Of the change alone: how much the run's own steps vary moves the whole curve.
trace::tuning::Interval range_of(const CurvePoint& point, double recorded_ns) {
  if (!point.difference) return {point.step_ns, point.step_ns};
  return {std::max(recorded_ns + point.difference->low_ns, 0.0),
          recorded_ns + point.difference->high_ns};
}

ValueScale scale_of(const KnobCurve& curve, const std::vector<MeasuredRun>& runs) {
  ValueScale scale(kLeastRange, kMargin);
  for (const CurvePoint& point : curve.points) {
    const auto [low_ns, high_ns] = range_of(point, curve.recorded_step_ns);
    scale.add(low_ns);
    scale.add(high_ns);
  }
  for (const MeasuredRun& run : runs) scale.add(run.step_ns);
  scale.settle();
  return scale;
}

std::string difference_text(const CurvePoint& point, double recorded_ns) {
  const double ns = point.step_ns - recorded_ns;
  if (ns == 0) return "none";
  return present::difference_text(ns, point.difference);
}

KnobChart::Point chart_point(const KnobCurve& curve, const CurvePoint& from,
                             const ValueScale& scale) {
  const double recorded_ns = curve.recorded_step_ns;
  KnobChart::Point point;
  point.value = from.text;
  point.x = slider_position(*curve.knob, from.value);
  point.y = scale.of(from.step_ns);
  point.fits = from.fits;
  point.step = step_text(curve, from.step_ns);
  const auto [low_ns, high_ns] = range_of(from, recorded_ns);
  point.low = scale.of(low_ns);
  point.high = scale.of(high_ns);
  point.difference = difference_text(from, recorded_ns);
  return point;
}

// Where the slider stands, which need not be a point of the curve. None: nothing is predicted.
std::optional<CurvePoint> point_as_set(const KnobCurve& curve, const Settings& next,
                                       const std::optional<trace::tuning::Prediction>& predicted) {
  const std::string text = trace::job::value_text(next, *curve.knob);
  const auto found = std::ranges::find(curve.points, text, &CurvePoint::text);
  if (found != curve.points.end()) return *found;
  if (!predicted || !(predicted->recorded_step_ns > 0)) return std::nullopt;
  using Per = KnobCurve::Per;
  const double more = curve.per == Per::kSample  ? predicted->samples
                      : curve.per == Per::kToken ? predicted->tokens
                                                 : 1;
  const double recorded_ns = predicted->recorded_step_ns;
  const auto per = [&](double ns) { return ns / more * curve.recorded_step_ns / recorded_ns; };
  CurvePoint point{text, as_number(text), per(predicted->step_ns), std::nullopt, true};
  if (const auto& difference = predicted->difference) {
    const auto of = [&](double ns) { return per(recorded_ns + ns) - curve.recorded_step_ns; };
    point.difference = {of(difference->low_ns), of(difference->high_ns)};
  }
  return point;
}

void offer_best(const KnobCurve& curve, const std::optional<CurvePoint>& as_set, KnobChart& chart) {
  if (!as_set || curve.per == KnobCurve::Per::kToken) return;
  chart.best = trace::tuning::surest_faster(curve, *as_set);
  if (chart.best || !chart.why_unsure.empty()) return;  // that is said
  const bool is_told_apart = std::ranges::any_of(curve.points, [&](const CurvePoint& point) {
    return is_surely_faster(curve, *as_set, point) || is_surely_faster(curve, point, *as_set);
  });
  chart.why_no_best = is_told_apart ? "none surely faster" : "no clear difference";
}

// Null: there is none.
const KnobCurve* curve_of(const state::Snapshot& snapshot,
                          std::vector<KnobCurve> state::PredictionView::*which, const Knob& knob) {
  if (!snapshot.prediction) return nullptr;
  const auto& curves = (*snapshot.prediction).*which;
  const auto found = std::ranges::find(curves, &knob, &KnobCurve::knob);
  return found == curves.end() ? nullptr : &*found;
}

const KnobCurve* curve_of_choices(const state::Snapshot& snapshot, const Knob& knob) {
  return curve_of(snapshot, &state::PredictionView::choices, knob);
}

}  // namespace

state::MeasuredRuns measured_runs(const state::Ledger& ledger, const Settings& next) {
  state::MeasuredRuns found;
  const auto knobs = knobs_with_curve();
  // The ledger compares all with the baseline.
  const bool others_are_like_shown = shown_of_baselines_job(ledger) != nullptr;
  for (const state::LedgerRow& row : ledger.rows) {
    const bool is_like = row.is_shown || (row.not_compared.empty() && others_are_like_shown);
    if (!is_like || !is_measured(row) || row.ranks != next.ranks) continue;
    const auto changes = changes_of(row, next);
    if (!changes) continue;
    for (const Knob* knob : knobs) {
      if (!is_along(*changes, *knob)) continue;
      const double divisor = trace::tuning::curve_divisor(*knob, row.settings, row.ranks);
      found[knob].push_back({trace::job::value_text(row.settings, *knob), row.ordinal,
                             row.summary.step_ns.mean / divisor});
    }
  }
  return found;
}

std::optional<KnobChart> knob_chart(const state::Snapshot& snapshot, const Knob& knob) {
  const KnobCurve* curve = curve_of(snapshot, &state::PredictionView::curves, knob);
  if (curve == nullptr) return std::nullopt;
  KnobChart chart;
  if (curve->points.empty()) return chart;
  // Runs of one's own are not of the job that another program's run was.
  const auto& predicted = snapshot.prediction->prediction;
  const bool is_of_another = predicted && predicted->is_of_another_program;
  const auto& measured = snapshot.prediction->measured;
  const auto along = is_of_another ? measured.end() : measured.find(&knob);
  const auto runs = along == measured.end() ? std::vector<MeasuredRun>{} : along->second;
  const ValueScale scale = scale_of(*curve, runs);
  chart.against = snapshot.prediction->ordinal;
  const auto unit = duration_unit(scale.high());
  chart.range = format_duration_in(std::max(0.0, scale.low()), unit).value + " to " +
                step_text(*curve, scale.high());
  const bool has_interval = std::ranges::any_of(
      curve->points, [](const CurvePoint& point) { return point.difference.has_value(); });
  if (!has_interval) chart.why_unsure = curve->why_unsure;
  offer_best(*curve, point_as_set(*curve, snapshot.knobs.next, predicted), chart);
  for (const CurvePoint& point : curve->points) {
    chart.points.push_back(chart_point(*curve, point, scale));
  }
  for (const KnobCurve::Unpredicted& other : curve->unpredicted) {
    chart.unpredicted.push_back({other.text, other.why, slider_position(knob, other.value)});
  }
  for (const MeasuredRun& run : runs) {
    chart.measured.push_back({slider_position(knob, as_number(run.value)), scale.of(run.step_ns),
                              run.run, run.value, step_text(*curve, run.step_ns)});
  }
  return chart;
}

std::string why_no_curve(const state::Snapshot& snapshot, const Knob& knob) {
  const auto& prediction = snapshot.prediction;
  if (!prediction || !prediction->prediction) return "";
  if (curve_of(snapshot, &state::PredictionView::curves, knob) != nullptr) return "";
  if (trace::tuning::is_without_effect(knob)) return "No curve: no step takes longer or shorter";
  const auto why = prediction->why_no_curve.find(&knob);
  if (why != prediction->why_no_curve.end()) return "No curve. " + why->second;
  if (prediction->prediction->is_of_another_program)
    return "No curve: this run does not tell what it does";
  if (trace::tuning::is_predictable(knob)) return "No curve: this run tells of one value only";
  return "No curve: one run does not tell what it does";
}

const CurvePoint* predicted_choice(const state::Snapshot& snapshot, const trace::job::Knob& knob,
                                   std::string_view value) {
  const KnobCurve* curve = curve_of_choices(snapshot, knob);
  if (curve == nullptr) return nullptr;
  const auto found = std::ranges::find(curve->points, value, &CurvePoint::text);
  return found == curve->points.end() ? nullptr : &*found;
}

std::string why_not_predicted(const state::Snapshot& snapshot, const trace::job::Knob& knob,
                              std::string_view value) {
  const KnobCurve* curve = curve_of_choices(snapshot, knob);
  if (curve == nullptr) return "";
  const auto found = std::ranges::find(curve->unpredicted, value, &KnobCurve::Unpredicted::text);
  return found == curve->unpredicted.end() ? "" : found->why;
}

std::string choice_text(const state::Snapshot& snapshot, const trace::job::Knob& knob,
                        const CurvePoint& point) {
  const KnobCurve& curve = *curve_of_choices(snapshot, knob);
  const std::string time = format_duration(point.step_ns).text();
  const double more_ns = point.step_ns - curve.recorded_step_ns;
  if (more_ns == 0) return time + ", as measured";
  const std::string& run = snapshot.prediction->ordinal;
  return time + ", " + difference_text(more_ns, point.difference) + " against " +
         (run.empty() ? "the run on screen" : run);
}

namespace {

bool is_advised(const state::Snapshot& snapshot, const Knob& knob, const std::string& value) {
  if (!snapshot.advice) return false;
  return std::ranges::any_of(snapshot.advice->advice, [&](const trace::advice::Advice& advice) {
    return std::ranges::any_of(advice.changes, [&](const auto& change) {
      return change.knob == knob.name && change.value == value;
    });
  });
}

// Null: none is. Of several that take as long the one that is advised, as hooks of 16 bits are.
const CurvePoint* surely_faster_choice(const state::Snapshot& snapshot, const KnobCurve& curve,
                                       const CurvePoint& now) {
  const auto surest = trace::tuning::surest_faster(curve, now);
  if (!surest) return nullptr;
  const CurvePoint& best = curve.points[*surest];
  const auto advised = std::ranges::find_if(curve.points, [&](const CurvePoint& point) {
    return point.step_ns == best.step_ns && point.fits && is_surely_faster(curve, point, now) &&
           is_advised(snapshot, *curve.knob, point.text);
  });
  return advised == curve.points.end() ? &best : &*advised;
}

}  // namespace

std::optional<ChoiceHint> choice_hint(const state::Snapshot& snapshot,
                                      const trace::job::Knob& knob) {
  const KnobCurve* curve = curve_of_choices(snapshot, knob);
  const CurvePoint* now =
      predicted_choice(snapshot, knob, trace::job::value_text(snapshot.knobs.next, knob));
  if (now == nullptr) return std::nullopt;
  const CurvePoint* best = surely_faster_choice(snapshot, *curve, *now);
  if (best == nullptr) return std::nullopt;
  // Of the difference between two predictions it is not known how sure that is.
  const bool are_both_predicted = best->difference && now->step_ns != curve->recorded_step_ns;
  const auto interval = are_both_predicted ? std::nullopt
                        : best->difference ? best->difference
                                           : now->difference;
  return ChoiceHint{best->text,
                    best->text + ": " + difference_text(best->step_ns - now->step_ns, interval)};
}

}  // namespace shardlens::ui::present
