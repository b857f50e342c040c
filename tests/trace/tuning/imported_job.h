// Predictors of jobs whose traces, made up, were imported.
#pragma once

#include <gtest/gtest.h>

#include "tests/trace/interop/kineto_traces.h"
#include "trace/predict/record/recorded_steps.h"
#include "trace/tuning/predictor.h"

namespace shardlens::trace::tuning {

class ImportedJob : public interop::KinetoImport {
 protected:
  static base::Result<Predictor> learn_run(const Run& run, int ranks = 2) {
    predict::RecordedSteps recorded(ranks, 0);
    for (const model::Batch& batch : run.batches) recorded.learn(batch);
    recorded.learn_end(/*is_done=*/true);
    return Predictor::create(run.figures, recorded);
  }
  template <typename Writer, typename Job>
  base::Result<Predictor> learn_job(const Job& job, int ranks = 2) {
    return learn_run(open(import_job<Writer>(job, ranks).folder), ranks);
  }
};

}  // namespace shardlens::trace::tuning
