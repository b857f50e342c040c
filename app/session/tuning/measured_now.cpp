#include "app/session/tuning/measured_now.h"

#include <algorithm>
#include <cstddef>

#include "trace/tuning/predictable.h"

namespace shardlens::app::session {

using trace::job::Settings;
using trace::tuning::CurvePoint;
using trace::tuning::Interval;
using trace::tuning::KnobCurve;
using trace::tuning::Prediction;

namespace {

void move_by(double ns, std::optional<Interval>& interval) {
  if (interval) interval = {interval->low_ns + ns, interval->high_ns + ns};
}

void measure_peaks(const trace::analysis::RunFigures& figures, Prediction& prediction) {
  for (Prediction::Peak& peak : prediction.peaks) {
    const auto rank = static_cast<std::size_t>(peak.rank);
    if (rank >= figures.ranks.size()) continue;
    const std::int64_t now = figures.ranks[rank].peak.allocated_bytes();
    if (now <= 0) continue;
    peak.bytes += now - peak.recorded_bytes;
    peak.recorded_bytes = now;
  }
}

}  // namespace

void measure_now(const trace::analysis::RunFigures& figures, Prediction& prediction) {
  const auto& summary = figures.summary;
  if (summary.step_ns.count == 0) return;
  const double difference_ns = prediction.difference_ns();
  const double later_ns = summary.step_ns.mean - prediction.recorded_step_ns;
  prediction.recorded_step_ns = summary.step_ns.mean;
  prediction.step_ns = summary.step_ns.mean + difference_ns;
  move_by(later_ns, prediction.interval);
  if (summary.has_detail && prediction.recorded_exposed_ns && prediction.exposed_ns) {
    const double more_ns = *prediction.exposed_ns - *prediction.recorded_exposed_ns;
    prediction.recorded_exposed_ns = summary.exposed_ns;
    prediction.exposed_ns = std::max(0.0, summary.exposed_ns + more_ns);
  }
  measure_peaks(figures, prediction);
}

void measure_now(const trace::tuning::Predictor& predictor, const Settings& next, double step_ns,
                 KnobCurve& curve) {
  const auto divisor_of = [&](const Settings& settings) {
    const auto ranks = trace::tuning::acting_settings(predictor.info(), settings).ranks;
    return trace::tuning::curve_divisor(*curve.knob, settings, ranks);
  };
  const double before = divisor_of(predictor.info().settings);
  const double later_ns = step_ns - curve.recorded_step_ns * before;
  const double recorded_ns = later_ns / before;
  curve.recorded_step_ns += recorded_ns;
  for (CurvePoint& point : curve.points) {
    Settings settings = next;
    if (!trace::job::set_value(settings, curve.knob->name, point.text)) continue;
    const double more_ns = later_ns / divisor_of(settings);
    point.step_ns += more_ns;
    move_by(more_ns - recorded_ns, point.difference);
  }
}

}  // namespace shardlens::app::session
