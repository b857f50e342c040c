#include "app/sweep/sweep_prediction.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace shardlens::app::sweep {
namespace {

using ui::state::PointPrediction;

constexpr std::size_t kMostLearnt = 8;  // runs that are read to find one that tells of all points

// The first run of each point, in the order in which they were asked for.
std::vector<SourceRun> source_runs(const SweepPlan& plan, const SweepResults& results) {
  std::vector<SourceRun> sources;
  for (int round = 0; round < plan.repeats; ++round) {
    for (const std::size_t point : order_of(plan, round)) {
      const auto found = results.find({point, round});
      const bool is_whole = found != results.end() && found->second.measure;
      if (!is_whole || std::ranges::find(sources, point, &SourceRun::point) != sources.end()) {
        continue;
      }
      sources.push_back({point, &found->second});
      if (sources.size() == kMostLearnt) return sources;
    }
  }
  return sources;
}

std::size_t predicted_count(const SweepPredictions& all) {
  return static_cast<std::size_t>(std::ranges::count_if(
      all.points, [](const PointPrediction& point) { return point.step_ns.has_value(); }));
}

SweepPredictions nothing_predicted(const SweepPlan& plan, const std::string& why) {
  SweepPredictions none;
  none.points.resize(plan.points.settings.size(), PointPrediction{.reason = why});
  return none;
}

PointPrediction predicted_point(const trace::tuning::Predictor& predictor,
                                const trace::job::Settings& settings) {
  PointPrediction point;
  const auto predicted = predictor.predict(settings);
  if (!predicted) {
    point.reason = predicted.error().message;
    return point;
  }
  point.step_ns = predicted->step_ns;
  point.interval = predicted->interval;
  return point;
}

SweepPredictions predicted_from(const SweepPlan& plan, const SourceRun& source,
                                const trace::tuning::Predictor& predictor) {
  SweepPredictions all{.from = source.result->run, .points = {}};
  const std::string why_not = plan.points.settings.size() > 1
                                  ? "the other points are predicted from a run of this one"
                                  : "there is no other point to predict it from";
  for (std::size_t point = 0; point < plan.points.settings.size(); ++point) {
    all.points.push_back(point == source.point
                             ? PointPrediction{.reason = why_not}
                             : predicted_point(predictor, plan.points.settings[point]));
  }
  if (predicted_count(all) == 0 && all.points.size() > 1) {
    all.points[source.point].reason = all.points[source.point == 0 ? 1 : 0].reason;
  }
  return all;
}

}  // namespace

const trace::base::Result<PredictorOf>& LearntRuns::operator[](const std::filesystem::path& run) {
  const auto known = known_.find(run);
  return known != known_.end() ? known->second : known_.emplace(run, learn_run_(run)).first->second;
}

SweepPredictions predictions_of(const SweepPlan& plan, const SweepResults& results,
                                LearntRuns& learnt) {
  SweepPredictions best = nothing_predicted(plan, "no run was measured so far");
  std::size_t most = 0;
  bool is_first = true;
  for (const SourceRun& source : source_runs(plan, results)) {
    const auto& predictor = learnt[source.result->folder];
    auto all = predictor ? predicted_from(plan, source, **predictor)
                         : nothing_predicted(plan, predictor.error().message);
    const std::size_t count = predicted_count(all);
    if (count > most || is_first) best = std::move(all);
    if (count + 1 == plan.points.settings.size()) break;
    most = std::max(most, count);
    is_first = false;
  }
  if (predicted_count(best) == 0) best.from.clear();
  return best;
}

}  // namespace shardlens::app::sweep
