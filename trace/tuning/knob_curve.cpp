#include "trace/tuning/knob_curve.h"

#include <cstdlib>

#include "trace/tuning/predictable.h"

namespace shardlens::trace::tuning {

namespace {

KnobCurve::Per per_what(const job::Knob& knob) {
  using Per = KnobCurve::Per;
  if (changes_samples(knob)) return Per::kSample;
  return changes_tokens(knob) ? Per::kToken : Per::kStep;
}

}  // namespace

double curve_divisor(const job::Knob& knob, const job::Settings& settings, std::int64_t ranks) {
  const KnobCurve::Per per = per_what(knob);
  if (per == KnobCurve::Per::kStep) return 1;
  const double samples = samples_of_a_rank(settings) * static_cast<double>(ranks);
  return per == KnobCurve::Per::kSample ? samples
                                        : samples * static_cast<double>(settings.sequence_length);
}

KnobCurve knob_curve(const Predictor& predictor, const job::Settings& next, const job::Knob& knob,
                     const std::vector<std::string>& values, std::int64_t usable_bytes) {
  KnobCurve curve{.knob = &knob, .per = per_what(knob)};
  const auto divisor_of = [&](const job::Settings& settings) {
    return curve_divisor(knob, settings, acting_settings(predictor.info(), settings).ranks);
  };
  const double before = divisor_of(predictor.info().settings);
  for (const std::string& text : values) {
    job::Settings settings = next;
    if (!job::set_value(settings, knob.name, text)) continue;
    const auto predicted = predictor.predict_known(settings);
    if (!predicted) continue;
    const double divisor = divisor_of(settings);
    curve.recorded_step_ns = predicted->recorded_step_ns / before;
    const auto per = [&](double difference_ns) {
      return (predicted->recorded_step_ns + difference_ns) / divisor - curve.recorded_step_ns;
    };
    auto difference = predicted->difference;
    if (difference) difference = {per(difference->low_ns), per(difference->high_ns)};
    const bool fits = usable_bytes <= 0 || predicted->peak_bytes().value_or(0) <= usable_bytes;
    curve.points.push_back(
        {text, std::strtod(text.c_str(), nullptr), predicted->step_ns / divisor, difference, fits});
  }
  // Shorter sequences are no better: they are another task.
  if (curve.per == KnobCurve::Per::kToken) return curve;
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const CurvePoint& point = curve.points[i];
    if (!point.fits) continue;
    if (!curve.best || point.step_ns < curve.points[*curve.best].step_ns) curve.best = i;
  }
  return curve;
}

}  // namespace shardlens::trace::tuning
