#include "app/report/tuning/predicted_run.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "app/launch/job_request.h"
#include "app/search/space.h"
#include "app/session/compare/comparison_reader.h"
#include "app/session/runs/library_run.h"
#include "app/session/tuning/prediction_source.h"
#include "app/sweep/sweep_points.h"
#include "trace/advice/facts/run_facts.h"
#include "trace/analysis/noise/noise_model.h"
#include "trace/base/text.h"
#include "trace/frameworks/write/framework_export.h"
#include "trace/predict/costs/costs_file.h"
#include "trace/store/run/run_folder.h"
#include "trace/tuning/predictable.h"
#include "trace/tuning/predictor.h"
#include "ui/present/tune/prediction_text.h"

namespace shardlens::app::report {

using trace::base::Result;

namespace {

constexpr std::size_t kSaidReasons = 4;  // where every point of many is refused for another one

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

Result<std::optional<trace::predict::CollectiveCosts>> costs_in(const std::filesystem::path& file) {
  if (file.empty()) return std::nullopt;
  TRY_ASSIGN(const auto read, trace::predict::read_costs(file));
  return read.costs();
}

Result<LearntRun> learn(const std::filesystem::path& run, const GivenCosts& costs) {
  TRY_ASSIGN(auto figures, session::read_run_figures(run));
  if (!figures.info.unreadable.empty()) {
    return trace::base::fail(trace::base::ErrorKind::kUsage, figures.info.unreadable.front());
  }
  TRY_ASSIGN(auto beside, costs_in(costs.beside));
  TRY_ASSIGN(auto instead, costs_in(costs.instead));
  if (instead && figures.info.settings.simulate_link != trace::job::Settings{}.simulate_link) {
    return trace::base::fail(
        trace::base::ErrorKind::kUsage,
        "The run had a simulated link, whose time is a part of what it measured: what another link "
        "takes tells simulate_link, not costs that were measured elsewhere.");
  }
  TRY_ASSIGN(auto predictor, session::PredictionSource().predictor_of(
                                 figures, std::move(beside),
                                 std::move(instead).value_or(trace::predict::CollectiveCosts{})));
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

// Adds to `without_effect` the knobs that were asked for by name and change nothing of a step, as
// those of other strategies or devices, or those that no step depends on.
void name_what_does_nothing(const std::vector<const trace::job::Knob*>& named,
                            const trace::model::RunInfo& info, const trace::job::Settings& next,
                            trace::tuning::Prediction& prediction) {
  for (const trace::job::Knob* knob : named) {
    trace::job::Settings without = next;
    trace::job::copy_value(*knob, info.settings, without);
    if (without == next) continue;
    const bool acts =
        trace::tuning::acting_settings(info, without) != trace::tuning::acting_settings(info, next);
    if (acts && !trace::tuning::is_without_effect(*knob)) continue;
    if (std::ranges::find(prediction.without_effect, knob) == prediction.without_effect.end()) {
      prediction.without_effect.push_back(knob);
    }
  }
}

// What is asked for, and the knobs of which something was said.
struct Asked {
  trace::job::Settings next;
  std::vector<const trace::job::Knob*> named;
};

// `named`: by assignments or as what varies.
Result<Asked> asked_of(const trace::tuning::Predictor& predictor, const AskedSettings& asked,
                       std::vector<const trace::job::Knob*> named) {
  const trace::job::Settings& recorded = predictor.info().settings;
  trace::job::Settings next = asked.from_file ? asked.from_file(recorded) : recorded;
  if (predictor.told()) {
    for (const trace::job::Knob* knob : trace::job::differing_knobs(recorded, next)) {
      named.push_back(knob);
    }
    TRY(trace::tuning::refuse_untold(*predictor.told(), named));
  }
  TRY(assign(asked.assignments, next).map([](const auto&) {}));
  return Asked{std::move(next), std::move(named)};
}

Result<trace::tuning::Predictor::Forecast> forecast_of(const trace::tuning::Predictor& predictor,
                                                       const Asked& asked) {
  const auto& named = asked.named;
  const bool is_first_given =
      std::ranges::find(named, trace::job::find_knob("first_bucket_mb")) != named.end();
  TRY_ASSIGN(auto forecast,
             predictor.predict_with_step(asked.next, trace::tuning::kTypicalStep, is_first_given));
  if (forecast.prediction.is_as_recorded()) {
    TRY(trace::tuning::refuse_unknown(forecast.prediction.left_out));
  }
  name_what_does_nothing(named, predictor.info(), asked.next, forecast.prediction);
  return forecast;
}

std::optional<bool> peak_fits(const trace::tuning::Prediction& prediction,
                              std::int64_t usable_bytes) {
  const auto peak = prediction.peak_bytes();
  return peak && usable_bytes > 0 ? std::optional(*peak <= usable_bytes) : std::nullopt;
}

std::vector<std::pair<const trace::job::Knob*, std::string>> changes_in_program(
    const trace::tuning::Predictor& predictor, const trace::tuning::Prediction& prediction) {
  std::vector<std::pair<const trace::job::Knob*, std::string>> all;
  if (!predictor.told()) return all;
  trace::job::Settings next = predictor.told()->settings;
  for (const auto& change : prediction.changes) {
    (void)trace::job::set_value(next, change.knob->name, change.after);  // it was one of its values
  }
  for (const auto& change : prediction.changes) {
    std::string text =
        trace::frameworks::pytorch_change(*change.knob, next, predictor.told()->are_wrapped);
    const bool is_said =
        std::ranges::any_of(all, [&](const auto& said) { return said.second == text; });
    if (!text.empty() && !is_said) all.emplace_back(change.knob, std::move(text));
  }
  return all;
}

// Other knobs than those that vary stay as in `base`: a grid makes paths absolute.
void keep_rest(const trace::job::Settings& base, sweep::SweepPoints& points) {
  for (trace::job::Settings& point : points.settings) {
    trace::job::Settings kept = base;
    for (const auto* knob : points.varied) trace::job::copy_value(*knob, point, kept);
    point = std::move(kept);
  }
}

Result<sweep::SweepPoints> points_of_grid(const trace::job::Settings& base,
                                          const std::vector<std::string>& axes) {
  TRY_ASSIGN(auto points, sweep::grid_of(base, axes));
  keep_rest(base, points);
  return points;
}

// Of another program's run those that vary what it tells.
Result<sweep::SweepPoints> points_of_search(const trace::tuning::Predictor& predictor,
                                            const trace::job::Settings& base) {
  const auto& told = predictor.told();
  trace::job::Settings start = base;
  start.device = trace::job::device_choice(predictor.info().device);
  if (told) start.model = "";  // is not known: no cap is larger than all gradients
  TRY_ASSIGN(auto points, search::default_points(start, search::Goal::kStepTime));
  if (told) {
    std::erase_if(points.varied, [&](const auto* knob) {
      return std::ranges::find(told->knobs, knob) == told->knobs.end();
    });
  }
  keep_rest(base, points);
  std::vector<trace::job::Settings> different;
  for (const trace::job::Settings& point : points.settings) {
    if (std::ranges::find(different, point) == different.end()) different.push_back(point);
  }
  points.settings = std::move(different);
  return points;
}

Result<void> check_set_and_varied(const std::vector<const trace::job::Knob*>& set,
                                  const std::vector<const trace::job::Knob*>& varied) {
  for (const trace::job::Knob* knob : set) {
    if (std::ranges::find(varied, knob) == varied.end()) continue;
    return trace::base::fail(
        trace::base::ErrorKind::kUsage,
        std::string(knob->name) + " is set and varied at once: leave out one of them.");
  }
  return {};
}

PredictedPoint predicted_point(const LearntRun& learnt, const Asked& asked,
                               std::vector<const trace::job::Knob*> varied) {
  PredictedPoint point{.settings = asked.next, .varied = std::move(varied)};
  point.usable_bytes = trace::advice::usable_bytes(learnt.figures, asked.next.ranks);
  auto forecast = forecast_of(learnt.predictor, asked);
  if (!forecast) {
    point.refused = forecast.error().message;
    return point;
  }
  point.bound_by = ui::present::bound_text(forecast->step);
  point.prediction = std::move(forecast->prediction);
  return point;
}

// Each reason once.
std::string why_none(const std::vector<PredictedPoint>& points) {
  std::vector<std::string> reasons;
  for (const PredictedPoint& point : points) {
    const bool is_new = std::ranges::find(reasons, point.refused) == reasons.end();
    if (is_new && reasons.size() < kSaidReasons) reasons.push_back(point.refused);
  }
  return trace::base::joined(reasons, " ");
}

// The less, the further in front.
std::tuple<int, double> rank_of(const PredictedPoint& point) {
  if (!point.prediction) return {2, 0};
  return {point.fits() == false ? 1 : 0, point.prediction->change_per_token()};
}

}  // namespace

Result<PredictedRun> predict_run(const std::filesystem::path& run, const AskedSettings& asked,
                                 const GivenCosts& costs) {
  trace::job::Settings tried;  // a slip of the pen is told before a run is read
  TRY_ASSIGN(auto named, assign(asked.assignments, tried));
  TRY_ASSIGN(const auto learnt, learn(run, costs));
  const trace::tuning::Predictor& predictor = learnt.predictor;
  TRY_ASSIGN(const Asked all, asked_of(predictor, asked, std::move(named)));
  TRY_ASSIGN(auto forecast, forecast_of(predictor, all));
  const auto index = forecast.step.index;
  auto changes = changes_in_program(predictor, forecast.prediction);
  return PredictedRun{.info = learnt.figures.info,
                      .prediction = std::move(forecast.prediction),
                      .step = std::move(forecast.step),
                      .recorded_step = predictor.recorded_step(index),
                      .apart = apart_by_chance(run, learnt.figures),
                      .usable_bytes = trace::advice::usable_bytes(learnt.figures, all.next.ranks),
                      .in_program = std::move(changes)};
}

Result<PredictedPoints> predict_points(const std::filesystem::path& run, const AskedPoints& asked,
                                       const GivenCosts& costs) {
  trace::job::Settings tried;
  TRY_ASSIGN(const auto set, assign(asked.start.assignments, tried));
  TRY_ASSIGN(const auto tried_points, sweep::grid_of(tried, asked.axes));
  TRY(check_set_and_varied(set, tried_points.varied));
  TRY_ASSIGN(const auto learnt, learn(run, costs));
  auto named = set;
  named.insert(named.end(), tried_points.varied.begin(), tried_points.varied.end());
  TRY_ASSIGN(const Asked start, asked_of(learnt.predictor, asked.start, std::move(named)));
  const bool is_search = asked.axes.empty();
  TRY_ASSIGN(const auto points, is_search ? points_of_search(learnt.predictor, start.next)
                                          : points_of_grid(start.next, asked.axes));
  PredictedPoints all{.info = learnt.figures.info, .ranked = {}};
  for (std::size_t i = 0; i < points.settings.size(); ++i) {
    all.ranked.push_back(
        predicted_point(learnt, {points.settings[i], start.named},
                        is_search ? sweep::obeyed_knobs(points, i) : points.varied));
  }
  const bool is_refused = std::ranges::all_of(
      all.ranked, [](const PredictedPoint& point) { return !point.prediction; });
  if (is_refused) return trace::tuning::refuse(why_none(all.ranked));
  std::ranges::stable_sort(all.ranked, {}, rank_of);
  all.apart = apart_by_chance(run, learnt.figures);
  return all;
}

std::optional<bool> PredictedRun::fits() const { return peak_fits(prediction, usable_bytes); }

std::optional<bool> PredictedPoint::fits() const {
  return prediction ? peak_fits(*prediction, usable_bytes) : std::nullopt;
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
