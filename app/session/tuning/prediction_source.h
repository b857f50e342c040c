// Learns from a run's file what a prediction needs. Slow calls: a worker owns it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "trace/analysis/figures/figures.h"
#include "trace/predict/schedule/recorded_steps.h"
#include "trace/store/read/run_reader.h"
#include "trace/tuning/predictor.h"

namespace shardlens::app::session {

struct LearntRun {
  std::string folder;
  std::shared_ptr<const trace::tuning::Predictor> predictor{};  // null: `refused` says why
  std::string refused{};
};

// Of a run that has ended. Errors: it cannot be read, or nothing can be predicted from it.
trace::base::Result<std::shared_ptr<const trace::tuning::Predictor>> learn_run(
    const std::filesystem::path& run);

class PredictionSource {
 public:
  // What was read of a run is not read again, as long as it is the same.
  LearntRun learn(const trace::analysis::RunFigures& figures);

 private:
  trace::base::Result<trace::tuning::Predictor> predictor_of(
      const trace::analysis::RunFigures& figures);
  trace::base::Result<void> read(const trace::model::RunInfo& info);

  std::string folder_;
  std::int64_t start_ns_ = 0;  // of the run: another one may have taken its name
  std::unique_ptr<trace::store::RunReader> reader_;
  std::optional<trace::predict::RecordedSteps> recorded_;
};

}  // namespace shardlens::app::session
