// Sweeps whose truth is known: each point takes as long as its bucket_cap_mb says. Any thread.
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "app/sweep/sweep_results.h"

namespace shardlens::app::sweep {

inline SweepPlan made_up_plan(const std::vector<double>& truths, int repeats) {
  SweepPlan plan{.name = "caps", .points = {}, .repeats = repeats};
  plan.points.varied = {trace::job::find_knob("bucket_cap_mb")};
  for (const double truth : truths) {
    plan.points.settings.emplace_back().bucket_cap_mb = truth;
  }
  return plan;
}

inline SlotResult measured(double step_ms, const std::string& run = "a run") {
  RunMeasure measure;
  measure.step_ns = step_ms * 1e6;
  measure.exposed_ns = step_ms * 1e5;
  measure.tokens_per_s = 1e6 / step_ms;
  measure.peak_memory_bytes = 1e9;
  measure.peak_tensor_bytes = 5e7;
  measure.seconds = 10;
  return {.run = run, .measure = measure, .failure = ""};
}

inline SlotResult failed(const std::string& reason) {
  return {.run = "a run", .measure = {}, .failure = reason};
}

// As a sweep takes it, of which a slot may be the second attempt.
inline void take(SweepResults& results, Slot slot, SlotResult result) {
  const auto before = results.find(slot);
  if (before != results.end()) result.failed_before = before->second.failure;
  results[slot] = std::move(result);
}

struct MadeUpMachine {
  double noise = 0.01;  // of a run, relative
  double drift = 0.1;   // from round to round
};

// Runs what the sweep asks for, until it asks for nothing more.
inline SweepResults made_up_results(const SweepPlan& plan, const MadeUpMachine& machine,
                                    std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<double> drifts;
  for (int round = 0; round < plan.repeats; ++round) {
    drifts.push_back(machine.drift * normal(random));
  }
  SweepResults results;
  while (const auto slot = next_slot(plan, results)) {
    const double truth = plan.points.settings[slot->point].bucket_cap_mb;
    const auto round = static_cast<std::size_t>(slot->round);
    results[*slot] = measured(truth * std::exp(drifts[round] + machine.noise * normal(random)));
  }
  return results;
}

}  // namespace shardlens::app::sweep
