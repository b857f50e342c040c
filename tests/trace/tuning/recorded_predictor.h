// A predictor of the made-up run, and changes to that run. For tests.
#pragma once

#include <stdexcept>

#include "tests/trace/tuning/recorded_job.h"
#include "trace/job/settings/settings.h"
#include "trace/job/shape/model_shape.h"
#include "trace/job/shape/shape_text.h"
#include "trace/tuning/predictor.h"

namespace shardlens::trace::tuning {

// Of the made-up steps, with and without overlap.
inline constexpr double kMean = 150.05 * kMs, kMeanInTurn = 180.05 * kMs;

inline Predictor predictor_of(RecordedJob& job) {
  const auto recorded = job.record();
  auto predictor = Predictor::create(job.figures, recorded);
  if (!predictor) throw std::runtime_error(predictor.error().message);
  return *predictor;
}

inline job::Settings with_cap(const RecordedJob& job, double cap_mb) {
  job::Settings next = job.figures.info.settings;
  next.bucket_cap_mb = cap_mb;
  return next;
}

// On a CPU, with a model whose shape is known.
inline job::ModelShape give_model(RecordedJob& job) {
  const auto shape = *job::find_model_preset("tiny");
  job.figures.ranks.resize(2);
  for (auto& rank : job.figures.ranks) {
    rank.info.device = "cpu";
    rank.info.model = job::shape_text(shape);
    rank.info.parameters = job::parameter_count(shape);
  }
  return shape;
}

}  // namespace shardlens::trace::tuning
