#include "app/report/tuning/prediction.h"

#include <algorithm>
#include <utility>

#include "app/launch/job_request.h"
#include "app/session/compare/run_siblings.h"
#include "app/session/runs/library_run.h"
#include "app/session/tuning/prediction_source.h"
#include "trace/advice/facts/usable_memory.h"
#include "trace/analysis/noise/noise_model.h"
#include "trace/predict/costs/costs_file.h"
#include "trace/store/run/run_folder.h"
#include "trace/tuning/predictable.h"
#include "trace/tuning/predictor.h"

namespace shardlens::app::report {

using trace::base::Result;

namespace {

std::optional<double> apart_by_chance(const std::filesystem::path& run,
                                      const trace::analysis::RunFigures& figures) {
  auto records = session::siblings_of(figures, figures, trace::store::library_of(run));
  records.push_back(session::record_from_figures(figures));
  const auto runs = session::noise_runs(records);
  return trace::analysis::NoiseModel(runs.back(), runs).apart();
}

struct LearntRun {
  trace::analysis::RunFigures figures;
  trace::tuning::Predictor predictor;
};

Result<LearntRun> learn(const std::filesystem::path& run, const std::filesystem::path& costs) {
  TRY_ASSIGN(auto figures, session::read_run_figures(run));
  if (!figures.info.unreadable.empty()) {
    return trace::base::fail(trace::base::ErrorKind::kUsage, figures.info.unreadable.front());
  }
  std::optional<trace::predict::CollectiveCosts> given;
  if (!costs.empty()) {
    TRY_ASSIGN(const auto read, trace::predict::read_costs(costs));
    given = read.costs();
  }
  TRY_ASSIGN(auto predictor, session::PredictionSource().predictor_of(figures, given));
  return LearntRun{std::move(figures), std::move(predictor)};
}

// Returns which knobs they are of.
Result<std::vector<const trace::job::Knob*>> assign(const std::vector<std::string>& assignments,
                                                    trace::job::Settings& settings) {
  std::vector<const trace::job::Knob*> knobs;
  for (const std::string& assignment : assignments) {
    TRY(trace::job::set_assignment(settings, assignment));
    knobs.push_back(trace::job::find_knob(assignment.substr(0, assignment.find('='))));
  }
  return knobs;
}

// Of what was asked for by name, what changes nothing: a knob of other strategies or devices.
void name_what_does_nothing(const std::vector<const trace::job::Knob*>& named,
                            const trace::model::RunInfo& info, const trace::job::Settings& next,
                            trace::tuning::Prediction& prediction) {
  for (const trace::job::Knob* knob : named) {
    trace::job::Settings without = next;
    trace::job::copy_value(*knob, info.settings, without);
    const bool does_nothing = without != next && trace::tuning::acting_settings(info, without) ==
                                                     trace::tuning::acting_settings(info, next);
    if (!does_nothing) continue;
    if (std::ranges::find(prediction.without_effect, knob) == prediction.without_effect.end()) {
      prediction.without_effect.push_back(knob);
    }
  }
}

}  // namespace

Result<PredictedRun> predict_run(const std::filesystem::path& run, const AskedSettings& asked,
                                 const std::filesystem::path& costs) {
  trace::job::Settings tried;  // a slip of the pen is told before a run is read
  TRY_ASSIGN(auto named, assign(asked.assignments, tried));
  TRY_ASSIGN(const auto learnt, learn(run, costs));
  const trace::tuning::Predictor& predictor = learnt.predictor;
  const trace::job::Settings& recorded = predictor.info().settings;
  trace::job::Settings next = asked.from_file ? asked.from_file(recorded) : recorded;
  if (predictor.told()) {
    for (const trace::job::Knob* knob : trace::job::differing_knobs(recorded, next)) {
      named.push_back(knob);
    }
    TRY(trace::tuning::refuse_untold(*predictor.told(), named));
  }
  TRY(assign(asked.assignments, next).map([](const auto&) {}));
  const bool is_first_given =
      std::ranges::find(named, trace::job::find_knob("first_bucket_mb")) != named.end();
  TRY_ASSIGN(auto forecast,
             predictor.predict_with_step(next, trace::tuning::kTypicalStep, is_first_given));
  if (forecast.prediction.changes.empty()) {
    TRY(trace::tuning::refuse_unknown(forecast.prediction.left_out));
  }
  name_what_does_nothing(named, predictor.info(), next, forecast.prediction);
  TRY_ASSIGN(auto recorded_step, predictor.predict_step(recorded, forecast.step.index));
  return PredictedRun{.info = learnt.figures.info,
                      .prediction = std::move(forecast.prediction),
                      .step = std::move(forecast.step),
                      .recorded_step = std::move(recorded_step),
                      .apart = apart_by_chance(run, learnt.figures),
                      .usable_bytes = trace::advice::usable_bytes(learnt.figures, next.ranks)};
}

std::optional<bool> PredictedRun::fits() const {
  const auto peak = prediction.peak_bytes();
  return peak && usable_bytes > 0 ? std::optional(*peak <= usable_bytes) : std::nullopt;
}

Result<std::optional<trace::model::StepPrediction>> predict_job(const std::filesystem::path& run,
                                                                trace::job::Settings settings,
                                                                const launch::CudaProbe& cuda) {
  TRY_ASSIGN(const auto learnt, learn(run, {}));
  TRY_ASSIGN(const std::string device, launch::resolve_device(settings, cuda));
  settings.device = trace::job::device_choice(device);  // what it takes elsewhere tells nothing
  TRY_ASSIGN(const auto predicted, learnt.predictor.predict(settings));
  if (predicted.changes.empty()) return std::nullopt;
  return trace::tuning::kept_prediction(predicted, learnt.figures.info.name);
}

}  // namespace shardlens::app::report
