#include "app/report/tuning/prediction.h"

#include "app/session/tuning/known_costs.h"
#include "trace/analysis/run/run_analysis.h"
#include "trace/predict/costs/costs_file.h"
#include "trace/predict/schedule/recorded_steps.h"
#include "trace/store/read/run_reader.h"
#include "trace/tuning/predictor.h"

namespace shardlens::app::report {

using trace::base::Result;

namespace {

Result<trace::predict::CollectiveCosts> costs_in(const std::filesystem::path& file) {
  TRY_ASSIGN(const auto read, trace::predict::read_costs(file));
  return read.costs();
}

Result<trace::predict::CollectiveCosts> kept_costs(const std::filesystem::path& run,
                                                   const trace::analysis::RunFigures& figures) {
  std::vector<trace::model::RankInfo> ranks;
  for (const auto& rank : figures.ranks) ranks.push_back(rank.info);
  return session::known_costs(figures.info, ranks, run.parent_path());
}

}  // namespace

Result<PredictedRun> predict_run(const std::filesystem::path& run,
                                 const std::vector<std::string>& assignments,
                                 const std::filesystem::path& costs) {
  TRY_ASSIGN(const auto reader, trace::store::RunReader::open(run));
  PredictedRun predicted;
  TRY_ASSIGN(predicted.info, reader->info());
  trace::job::Settings next = predicted.info.settings;
  for (const std::string& assignment : assignments) {
    TRY(trace::job::set_assignment(next, assignment));
  }
  trace::analysis::RunAnalysis analysis(predicted.info);
  trace::predict::RecordedSteps recorded(predicted.info.world_size,
                                         predicted.info.settings.skip_steps);
  TRY_ASSIGN(const auto problems,
             trace::store::read_everything(*reader, [&](const trace::model::Batch& batch) {
               analysis.add(batch);
               recorded.learn(batch);
             }));
  if (!problems.empty()) {
    return trace::base::fail(trace::base::ErrorKind::kUsage, problems.front());
  }
  TRY_ASSIGN(const auto known,
             costs.empty() ? kept_costs(run, analysis.figures()) : costs_in(costs));
  TRY_ASSIGN(const auto predictor,
             trace::tuning::Predictor::create(analysis.figures(), recorded, known));
  TRY_ASSIGN(predicted.prediction, predictor.predict(next));
  TRY_ASSIGN(predicted.step, predictor.predict_step(next, trace::tuning::kTypicalStep));
  return predicted;
}

}  // namespace shardlens::app::report
