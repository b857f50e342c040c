#include "trace/tuning/prediction.h"

#include <algorithm>
#include <utility>

#include "trace/analysis/noise/mean_estimate.h"

namespace shardlens::trace::tuning {

namespace {

std::optional<std::int64_t> highest(const std::vector<Prediction::Peak>& peaks,
                                    std::int64_t Prediction::Peak::*bytes) {
  if (peaks.empty()) return std::nullopt;
  return std::ranges::max(peaks, {}, bytes).*bytes;
}

}  // namespace

std::optional<std::int64_t> Prediction::recorded_peak_bytes() const {
  return highest(peaks, &Peak::recorded_bytes);
}

std::optional<std::int64_t> Prediction::peak_bytes() const { return highest(peaks, &Peak::bytes); }

std::string why_unsure(const Prediction& prediction) {
  const bool is_missing = !prediction.is_as_recorded() && prediction.difference_ns() != 0;
  if (!is_missing || prediction.difference) return "";
  constexpr std::int64_t kFewest = analysis::kFewestWithError;
  if (prediction.steps >= kFewest) return "Its steps drift too much to tell how sure that is.";
  return "How sure that is takes at least " + std::to_string(kFewest) +
         " steps to tell; this run has " + std::to_string(prediction.steps) +
         (prediction.is_of_another_program
              ? ": record more, as with torch.profiler.schedule(active=16)."
              : ".");
}

model::StepPrediction kept_prediction(const Prediction& prediction, std::string from) {
  model::StepPrediction kept{prediction.step_ns, {}, {}, std::move(from)};
  if (prediction.interval) {
    kept.low_ns = prediction.interval->low_ns;
    kept.high_ns = prediction.interval->high_ns;
  }
  return kept;
}

}  // namespace shardlens::trace::tuning
