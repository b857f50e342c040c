#include "app/report/tuning/prediction.h"

#include "trace/analysis/run/run_analysis.h"
#include "trace/predict/schedule/recorded_steps.h"
#include "trace/store/read/run_reader.h"
#include "trace/tuning/predictor.h"

namespace shardlens::app::report {

using trace::base::Result;

Result<PredictedRun> predict_run(const std::filesystem::path& run,
                                 const std::vector<std::string>& assignments) {
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
  TRY_ASSIGN(const auto predictor, trace::tuning::Predictor::create(analysis.figures(), recorded));
  TRY_ASSIGN(predicted.prediction, predictor.predict(next));
  TRY_ASSIGN(predicted.step, predictor.predict_step(next, trace::tuning::kTypicalStep));
  return predicted;
}

}  // namespace shardlens::app::report
