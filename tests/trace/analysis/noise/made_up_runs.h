// Runs made up with drift: steps that depend on their predecessor and a value that each run has of
// its own. One thread.
#pragma once

#include <cmath>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "trace/analysis/noise/noise_model.h"

namespace shardlens::trace::analysis {

struct MadeUpNoise {
  double step = 0.05;  // standard deviation of a step, relative
  double memory = 0;   // of the step before: AR(1)
  double between = 0;  // standard deviation between runs, relative
};

inline std::vector<double> made_up_steps(double mean_ns, const MadeUpNoise& noise, int steps,
                                         std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const double own = mean_ns * (1 + noise.between * normal(random));
  std::vector<double> series;
  double deviation = normal(random);
  for (int i = 0; i < steps; ++i) {
    series.push_back(own + mean_ns * noise.step * deviation);
    deviation =
        noise.memory * deviation + std::sqrt(1 - noise.memory * noise.memory) * normal(random);
  }
  return series;
}

// Runs that a NoiseModel may ask; what it refers to lives here.
class MadeUpLibrary {
 public:
  model::RunInfo& add(const std::vector<double>& steps) {
    infos_.emplace_back().world_size = 2;
    infos_.back().device = "cpu";
    noises_.emplace_back().estimates[kStepTime] = estimate_mean(steps);
    return infos_.back();
  }
  NoiseRun run(std::size_t i) const {
    return {.job = {.info = &infos_[i], .hosts = "host", .devices = "2 cores"},
            .noise = &noises_[i]};
  }
  std::vector<NoiseRun> runs() const {
    std::vector<NoiseRun> all;
    for (std::size_t i = 0; i < infos_.size(); ++i) all.push_back(run(i));
    return all;
  }
  std::optional<Judgement> judge(std::size_t a, std::size_t b) const {
    const NoiseRun first = run(a), second = run(b);
    return NoiseModel(first, runs()).judge(kStepTime, {&first}, {&second});
  }

 private:
  std::deque<model::RunInfo> infos_;
  std::deque<RunNoise> noises_;
};

}  // namespace shardlens::trace::analysis
