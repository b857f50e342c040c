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
    const double value = std::strtod(text.c_str(), nullptr);
    const auto predicted = predictor.predict_known(settings);
    if (!predicted) {
      curve.unpredicted.push_back({text, value, predicted.error().message});
      continue;
    }
    const double divisor = divisor_of(settings);
    curve.recorded_step_ns = predicted->recorded_step_ns / before;
    const auto per = [&](double difference_ns) {
      return (predicted->recorded_step_ns + difference_ns) / divisor - curve.recorded_step_ns;
    };
    if (curve.why_unsure.empty()) curve.why_unsure = tuning::why_unsure(*predicted);
    auto difference = predicted->difference;
    if (difference) difference = {per(difference->low_ns), per(difference->high_ns)};
    const bool fits = usable_bytes <= 0 || predicted->peak_bytes().value_or(0) <= usable_bytes;
    curve.points.push_back({text, value, predicted->step_ns / divisor, difference, fits});
  }
  return curve;
}

bool is_surely_faster(const KnobCurve& curve, const CurvePoint& a, const CurvePoint& b) {
  const double recorded_ns = curve.recorded_step_ns;
  const bool is_sure = !a.difference || a.difference->high_ns == 0;
  const bool is_as_recorded = a.step_ns == recorded_ns && is_sure;
  if (is_as_recorded) return b.difference && b.difference->low_ns > 0;
  return a.difference && recorded_ns + a.difference->high_ns < b.step_ns;
}

std::optional<std::size_t> surest_faster(const KnobCurve& curve, const CurvePoint& now) {
  if (curve.per == KnobCurve::Per::kToken) return std::nullopt;
  const auto end_of = [](const CurvePoint& point) {
    return point.difference ? point.difference->high_ns : 0;
  };
  std::optional<std::size_t> surest;
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const CurvePoint& point = curve.points[i];
    if (!point.fits || !is_surely_faster(curve, point, now)) continue;
    if (!surest || end_of(point) < end_of(curve.points[*surest])) surest = i;
  }
  return surest;
}

}  // namespace shardlens::trace::tuning
