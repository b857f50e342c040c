#include "app/search/forecast.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace shardlens::app::search {
namespace {

constexpr double kSure = 1.96;  // standard deviations to either end of a 95 % interval
// Of what is predicted: what the model leaves out moves with the knobs, too (bench predict).
constexpr double kModelDeviation = 0.02;

Forecast of_memory(const sweep::SlotResult& run, const std::optional<std::int64_t>& more) {
  Forecast forecast;
  if (!more || !run.measure->peak_memory_bytes) {
    forecast.refused = "the run tells no memory";
    return forecast;
  }
  forecast.cost = *run.measure->peak_memory_bytes + static_cast<double>(*more);
  forecast.deviation = kModelDeviation * *forecast.cost;
  return forecast;
}

Forecast of_time(const sweep::RunMeasure& run, Goal goal,
                 const trace::tuning::Prediction& prediction) {
  Forecast forecast;
  double per = 1;
  if (goal == Goal::kTokenRate) {
    if (!run.tokens_per_s) {
      forecast.refused = "the run tells no tokens";
      return forecast;
    }
    per = prediction.samples * *run.tokens_per_s * run.step_ns / 1e9;  // tokens of a step
  }
  forecast.cost = prediction.step_ns / per;
  const double half = prediction.interval
                          ? (prediction.interval->high_ns - prediction.interval->low_ns) / 2
                          : prediction.step_ns / 4;
  forecast.deviation = std::hypot(half / kSure / per, kModelDeviation * *forecast.cost);
  return forecast;
}

}  // namespace

std::string_view to_string(Goal goal) {
  switch (goal) {
    case Goal::kStepTime:
      return "step_time";
    case Goal::kTokenRate:
      return "tokens_per_s";
    case Goal::kMemory:
      break;
  }
  return "memory";
}

std::optional<double> cost_of(const sweep::RunMeasure& run, Goal goal) {
  if (goal == Goal::kMemory) return run.peak_memory_bytes;
  if (goal == Goal::kStepTime) return run.step_ns;
  if (!run.tokens_per_s || *run.tokens_per_s <= 0) return std::nullopt;
  return 1e9 / *run.tokens_per_s;
}

const trace::base::Result<sweep::PredictorOf>& RunForecasts::learnt(
    const std::filesystem::path& run) {
  const auto known = learnt_.find(run);
  return known != learnt_.end() ? known->second
                                : learnt_.emplace(run, learn_run_(run)).first->second;
}

Forecast RunForecasts::operator()(const sweep::SlotResult& run, std::size_t point) {
  const auto [known, is_new] = known_.try_emplace({run.folder, point});
  Forecast& forecast = known->second;
  if (!is_new) return forecast;
  const auto& predictor = learnt(run.folder);
  if (!predictor) {
    forecast.refused = predictor.error().message;
    return forecast;
  }
  const auto& settings = plan_.points.settings[point];
  const auto more = (*predictor)->more_bytes(settings);
  if (goal_ == Goal::kMemory) {
    forecast = of_memory(run, more);
  } else if (const auto prediction = (*predictor)->predict(settings)) {
    forecast = of_time(*run.measure, goal_, *prediction);
  } else {
    forecast.refused = prediction.error().message;
  }
  if (more && run.measure->peak_memory_bytes) {
    forecast.peak_bytes = static_cast<std::int64_t>(*run.measure->peak_memory_bytes) + *more;
  }
  return forecast;
}

}  // namespace shardlens::app::search
