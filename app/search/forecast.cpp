#include "app/search/forecast.h"

#include <cmath>

namespace shardlens::app::search {
namespace {

// Of what is predicted: what the model leaves out moves with the knobs, too (bench predict).
constexpr double kModelDeviation = 0.02;

Forecast of_memory(const sweep::RunMeasure& run, const std::optional<std::int64_t>& more) {
  Forecast forecast;
  if (!more || !run.peak_memory_bytes) {
    forecast.refused = "the run tells no memory";
    return forecast;
  }
  const double bytes = *run.peak_memory_bytes + static_cast<double>(*more);
  if (bytes <= 0) {
    forecast.refused = "the run took less memory than its shape tells";
    return forecast;
  }
  forecast.cost = bytes;
  forecast.deviation = kModelDeviation * bytes;
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
    per = prediction.tokens * *run.tokens_per_s * run.step_ns / 1e9;  // tokens of a step
  }
  forecast.cost = prediction.step_ns / per;
  const double half = prediction.interval
                          ? (prediction.interval->high_ns - prediction.interval->low_ns) / 2
                          : prediction.step_ns / 4;
  forecast.deviation = std::hypot(half / kDeviationsOf95 / per, kModelDeviation * *forecast.cost);
  return forecast;
}

}  // namespace

Forecast RunForecasts::operator()(const SourceRun& run, std::size_t point) {
  const auto [known, is_new] = known_.try_emplace({run.result->folder, point});
  if (is_new) known->second = forecast(run, point);
  return known->second;
}

std::optional<trace::model::StepPrediction> RunForecasts::step(const SourceRun& run,
                                                               std::size_t point) {
  const auto& predictor = learnt_[run.result->folder];
  if (!predictor) return std::nullopt;
  const auto predicted = (*predictor)->predict(points_[point]);
  if (!predicted || predicted->changes.empty()) return std::nullopt;
  return trace::tuning::kept_prediction(*predicted, run.result->run);
}

// By a run's own record where there is a predictor; shapes tell it of any other.
std::optional<std::int64_t> RunForecasts::more_bytes(const sweep::PredictorOf& predictor,
                                                     const SourceRun& run,
                                                     std::size_t point) const {
  const auto more = predictor ? predictor->more_bytes(points_[point]) : std::nullopt;
  if (more || !shape_bytes_ || run.result->measure->is_padded) return more;
  const auto there = shape_bytes_(points_[run.point]);
  const auto here = shape_bytes_(points_[point]);
  return there && here ? std::optional(*here - *there) : std::nullopt;
}

void RunForecasts::tell_whether_it_fits(const SourceRun& run, std::size_t point, std::int64_t more,
                                        Forecast& forecast) const {
  const std::int64_t usable = usable_bytes_ ? usable_bytes_(points_[point]) : 0;
  if (usable <= 0) return;
  forecast.needs_no_more = more <= 0 && usable >= usable_bytes_(points_[run.point]);
  const auto& peak = run.result->measure->peak_tensor_bytes;
  if (peak) forecast.fits = *peak + static_cast<double>(more) <= static_cast<double>(usable);
}

Forecast RunForecasts::forecast(const SourceRun& run, std::size_t point) {
  Forecast forecast;
  const auto& predictor = learnt_[run.result->folder];
  const auto& measure = *run.result->measure;
  const auto more = more_bytes(predictor ? *predictor : nullptr, run, point);
  if (goal_ == Goal::kMemory) {
    forecast = of_memory(measure, more);
  } else if (!predictor) {
    forecast.refused = predictor.error().message;
  } else if (const auto prediction = (*predictor)->predict(points_[point])) {
    forecast = of_time(measure, goal_, *prediction);
  } else {
    forecast.refused = prediction.error().message;
  }
  if (more) tell_whether_it_fits(run, point, *more, forecast);
  return forecast;
}

}  // namespace shardlens::app::search
