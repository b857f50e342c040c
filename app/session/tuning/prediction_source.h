// Learns from a run's file, and from what is kept beside it, what a prediction and the rules of
// advice need. Waits for the disk: a worker owns a PredictionSource, any thread may call the
// functions.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/search/forecast.h"
#include "app/session/jobs/strategy_planner.h"
#include "trace/analysis/figures/figures.h"
#include "trace/model/run_info.h"
#include "trace/predict/costs/collective_costs.h"
#include "trace/predict/record/recorded_steps.h"
#include "trace/store/read/run_reader.h"
#include "trace/tuning/predictor.h"
#include "ui/state/snapshot.h"

namespace shardlens::app::session {

struct LearntRun {
  std::string folder;
  std::shared_ptr<const trace::tuning::Predictor> predictor{};  // null: `refused` says why
  std::string refused{};
  bool may_come = false;  // a predictor, once the run has more steps
};

// Of a run that has ended. Errors: it cannot be read, or nothing can be predicted from it.
trace::base::Result<std::shared_ptr<const trace::tuning::Predictor>> learn_run(
    const std::filesystem::path& run);

// Whether a job with these settings would run on the machine and the device that the run had.
bool would_run_where(const trace::analysis::RunFigures& run, const trace::job::Settings& next,
                     const Machine& machine);

// What a search on this machine learns from: recorded runs, and models' shapes for memory.
search::ForecastSources forecast_sources(const Machine& machine);

class PredictionSource {
 public:
  // What was read of a run is not read again, as long as it is the same.
  LearntRun learn(const trace::analysis::RunFigures& figures);
  // `costs`: of collectives; none: what is kept beside the run. `instead`: see KnownCosts. Errors:
  // see learn_run().
  trace::base::Result<trace::tuning::Predictor> predictor_of(
      const trace::analysis::RunFigures& figures,
      std::optional<trace::predict::CollectiveCosts> costs = {},
      trace::predict::CollectiveCosts instead = {});

 private:
  trace::base::Result<void> read(const trace::model::RunInfo& info);

  std::string folder_;
  std::int64_t start_ns_ = 0;  // of the run: another one may have taken its name
  std::unique_ptr<trace::store::RunReader> reader_;
  std::optional<trace::predict::RecordedSteps> recorded_;
};

// What would help a recorded run. `learnt`: of the same run. Of steps that cannot be read nothing
// is said that would need them.
ui::state::AdviceView advise_run(const trace::analysis::RunFigures& figures,
                                 const LearntRun& learnt);

}  // namespace shardlens::app::session
