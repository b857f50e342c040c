#include "trace/tuning/prediction.h"

#include <algorithm>
#include <utility>

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

model::StepPrediction kept_prediction(const Prediction& prediction, std::string from) {
  model::StepPrediction kept{prediction.step_ns, {}, {}, std::move(from)};
  if (prediction.interval) {
    kept.low_ns = prediction.interval->low_ns;
    kept.high_ns = prediction.interval->high_ns;
  }
  return kept;
}

}  // namespace shardlens::trace::tuning
