// What a measured run tells of another point of a search, before that is run. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/sweep/sweep_plan.h"
#include "app/sweep/sweep_prediction.h"

namespace shardlens::app::search {

using sweep::cost_of;
using sweep::Goal;
using sweep::kGoals;
using sweep::SourceRun;
using sweep::to_string;

// Standard deviations to either end of a 95 % interval, of a normal.
inline constexpr double kDeviationsOf95 = 1.96;

struct Forecast {
  std::optional<double> cost;  // none: `refused` says why
  double deviation = 0;        // standard, of the cost
  std::optional<bool> fits;    // its tensors, where it would run; none: not known
  // It needs no more than the run, which went well, and has as much.
  bool needs_no_more = false;
  std::string refused;
};

// Of `point`, from a run of another one.
using ForecastFrom = std::function<Forecast(const SourceRun& run, std::size_t point)>;

// Peak bytes of the rank that needs most, from the model's shape alone. None: it is not known.
using ShapeBytes = std::function<std::optional<std::int64_t>(const trace::job::Settings&)>;

// What the tensors of one rank may take, of as many as the settings have. 0: not known.
using UsableBytes = std::function<std::int64_t(const trace::job::Settings&)>;

struct ForecastSources {
  sweep::LearnRun learn_run;
  ShapeBytes shape_bytes;
  UsableBytes usable_bytes;
};

// By trace/tuning; memory also of runs of which that tells nothing. What was read of a run is kept.
// One thread at a time; reads runs. Of a plan that has a search.
class RunForecasts {
 public:
  RunForecasts(const sweep::SweepPlan& plan, ForecastSources sources)
      : points_(plan.points.settings),
        goal_(plan.search->goal),
        shape_bytes_(std::move(sources.shape_bytes)),
        usable_bytes_(std::move(sources.usable_bytes)),
        learnt_(std::move(sources.learn_run)) {}

  Forecast operator()(const SourceRun& run, std::size_t point);
  // To be kept with a run of `point`. None: nothing is predicted of its steps.
  std::optional<trace::model::StepPrediction> step(const SourceRun& run, std::size_t point);

 private:
  Forecast forecast(const SourceRun& run, std::size_t point);
  std::optional<std::int64_t> more_bytes(const sweep::PredictorOf& predictor, const SourceRun& run,
                                         std::size_t point) const;
  // `more`: bytes that it needs beyond the run.
  void tell_whether_it_fits(const SourceRun& run, std::size_t point, std::int64_t more,
                            Forecast& forecast) const;

  std::vector<trace::job::Settings> points_;
  Goal goal_;
  ShapeBytes shape_bytes_;
  UsableBytes usable_bytes_;
  sweep::LearntRuns learnt_;
  std::map<std::pair<std::filesystem::path, std::size_t>, Forecast> known_;
};

}  // namespace shardlens::app::search
