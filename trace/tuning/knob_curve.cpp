#include "trace/tuning/knob_curve.h"

#include <cstdlib>
#include <utility>

namespace shardlens::trace::tuning {

KnobCurve knob_curve(const Predictor& predictor, const job::Settings& next, const job::Knob& knob,
                     const std::vector<std::string>& values, std::int64_t usable_bytes) {
  KnobCurve curve{.knob = &knob};
  for (const std::string& text : values) {
    job::Settings settings = next;
    if (!job::set_value(settings, knob.name, text)) continue;
    const auto predicted = predictor.predict(settings);
    if (!predicted) continue;
    curve.recorded_step_ns = predicted->recorded_step_ns;
    const bool fits = usable_bytes <= 0 || predicted->peak_bytes().value_or(0) <= usable_bytes;
    curve.points.push_back({text, std::strtod(text.c_str(), nullptr), predicted->step_ns,
                            predicted->difference, fits});
  }
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const CurvePoint& point = curve.points[i];
    if (!point.fits) continue;
    if (!curve.best || point.step_ns < curve.points[*curve.best].step_ns) curve.best = i;
  }
  return curve;
}

}  // namespace shardlens::trace::tuning
