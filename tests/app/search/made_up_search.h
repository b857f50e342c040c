// A grid whose points have known costs, runs that scatter about them, and predictions that are off.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "app/search/search.h"

namespace shardlens::app::search {

struct MadeUpSearch {
  // One point per cost: bucket_cap_mb 1, 2, 3, …
  explicit MadeUpSearch(std::vector<double> truths, std::uint64_t seed = 1)
      : costs(std::move(truths)), random(seed) {
    plan.repeats = kRounds;
    plan.points.varied = {trace::job::find_knob("bucket_cap_mb")};
    for (std::size_t i = 0; i < costs.size(); ++i) {
      trace::job::Settings settings;
      settings.bucket_cap_mb = static_cast<double>(i + 1);
      plan.points.settings.push_back(settings);
    }
    for (std::size_t i = 0; i < costs.size(); ++i) errors.push_back(normal(1));
    plan.search.emplace();
  }

  double normal(double deviation) { return std::normal_distribution<double>(0, deviation)(random); }

  ForecastFrom forecasts() {
    if (predictions) return predictions;
    return [this](const SourceRun&, std::size_t point) {
      Forecast forecast;
      if (is_refused) {
        forecast.refused = "not predictable";
        return forecast;
      }
      forecast.deviation = off_by * costs[point];
      forecast.cost = costs[point] + errors[point] * forecast.deviation;
      if (point < peaks.size()) forecast.fits = peaks[point] <= usable;
      return forecast;
    };
  }

  void measure(sweep::Slot slot, double cost) {
    sweep::SlotResult result;
    result.run = "run";
    result.measure.emplace().step_ns = cost;
    result.measure->seconds = 10;
    results[slot] = result;
  }
  void fail(sweep::Slot slot, const std::string& why) {
    results[slot] = {};
    results[slot].failure = why;
  }
  void run(sweep::Slot slot) {
    measure(slot, costs[slot.point] * (1 + normal(noise)));
    seconds_left -= 10;
    ++runs;
  }
  Decision next() { return decide(results, beliefs_of(plan, results, forecasts()), seconds_left); }
  Ending run_to_end() {
    while (true) {
      const Decision decision = next();
      if (!decision.choice) return decision.ending;
      run(decision.choice->slot);
    }
  }
  Outcome outcome() { return *outcome_of(plan, results, beliefs_of(plan, results, forecasts())); }

  std::vector<double> costs;
  ForecastFrom predictions;  // none: off by `errors`, whatever they are made from
  std::vector<std::int64_t> peaks;
  std::int64_t usable = 0;
  double noise = 0.02, off_by = 0.03;
  bool is_refused = false;
  double seconds_left = 1e9;
  int runs = 0;
  sweep::SweepPlan plan;
  sweep::SweepResults results;
  std::mt19937_64 random;
  std::vector<double> errors;  // of predictions, in their deviations
};

}  // namespace shardlens::app::search
