#include "ui/present/tune/knob_chart.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "trace/model/acting_settings.h"
#include "ui/present/format.h"
#include "ui/present/tune/knob_rows.h"
#include "ui/present/tune/prediction_text.h"

namespace shardlens::ui::present {

namespace {

using trace::job::Knob;
using trace::job::Settings;
using trace::tuning::CurvePoint;
using trace::tuning::KnobCurve;

constexpr double kLeastRange = 0.02;  // of the step time: less would show noise as a mountain
constexpr double kMargin = 0.08;      // of the range, above and below

struct MeasuredRun {
  double value = 0, step_ns = 0;
  std::string run;
};

class StepScale {
 public:
  void add(double step_ns) {
    low_ = std::min(low_, step_ns);
    high_ = std::max(high_, step_ns);
  }
  void settle() {
    const double middle = (low_ + high_) / 2;
    const double half = std::max(high_ - low_, kLeastRange * middle) * (0.5 + kMargin);
    low_ = middle - half;
    high_ = middle + half;
  }
  float of(double step_ns) const { return static_cast<float>((step_ns - low_) / (high_ - low_)); }
  double low_ns() const { return low_; }
  double high_ns() const { return high_; }

 private:
  double low_ = INFINITY, high_ = -INFINITY;
};

std::string step_text(const KnobCurve& curve, double ns) {
  return format_duration(ns).text() + (curve.is_per_sample ? " per sample" : "");
}

Settings what_acts(Settings settings, int ranks) {
  trace::model::RunInfo info;
  info.world_size = ranks;
  info.settings = std::move(settings);
  return trace::model::acting_settings(info, {});
}

double value_of(const Settings& settings, const Knob& knob) {
  return std::strtod(trace::job::value_text(settings, knob).c_str(), nullptr);
}

// Runs of this job that went well, with the settings for the next one but for this knob.
std::vector<MeasuredRun> runs_along(const state::Snapshot& snapshot, const Knob& knob) {
  std::vector<MeasuredRun> found;
  if (!snapshot.ledger) return found;
  const Settings& next = snapshot.knobs.next;
  const std::string value = trace::job::value_text(next, knob);
  for (const state::LedgerRow& row : snapshot.ledger->rows) {
    const bool is_like = !row.is_imported && row.not_compared.empty() &&
                         row.status == trace::model::RunStatus::kDone &&
                         row.summary.step_ns.count > 0 && row.ranks == next.ranks;
    if (!is_like) continue;
    Settings same = row.settings;
    if (!trace::job::set_value(same, knob.name, value)) continue;
    if (what_acts(same, row.ranks) != what_acts(next, row.ranks)) continue;
    const double divisor = trace::tuning::curve_divisor(knob, row.settings);
    found.push_back(
        {value_of(row.settings, knob), row.summary.step_ns.mean / divisor, row.ordinal});
  }
  return found;
}

// Of the change alone: how much the run's own steps vary moves the whole curve.
trace::tuning::Interval range_of(const CurvePoint& point, double recorded_ns) {
  if (!point.difference) return {point.step_ns, point.step_ns};
  return {recorded_ns + point.difference->low_ns, recorded_ns + point.difference->high_ns};
}

StepScale scale_of(const KnobCurve& curve, const std::vector<MeasuredRun>& runs) {
  StepScale scale;
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
                             const StepScale& scale) {
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

}  // namespace

std::optional<KnobChart> knob_chart(const state::Snapshot& snapshot, const Knob& knob) {
  if (!snapshot.prediction) return std::nullopt;
  const auto& curves = snapshot.prediction->curves;
  const auto curve = std::ranges::find(curves, &knob, &KnobCurve::knob);
  if (curve == curves.end()) return std::nullopt;
  KnobChart chart;
  if (curve->points.empty()) return chart;
  const auto runs = runs_along(snapshot, knob);
  const StepScale scale = scale_of(*curve, runs);
  chart.best = curve->best;
  chart.against = snapshot.prediction->ordinal;
  chart.lowest = step_text(*curve, scale.low_ns());
  chart.highest = step_text(*curve, scale.high_ns());
  for (const CurvePoint& point : curve->points) {
    chart.points.push_back(chart_point(*curve, point, scale));
  }
  for (const MeasuredRun& run : runs) {
    chart.measured.push_back({slider_position(knob, run.value), scale.of(run.step_ns), run.run,
                              format_plain(run.value), step_text(*curve, run.step_ns)});
  }
  return chart;
}

}  // namespace shardlens::ui::present
