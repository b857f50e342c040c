// What recorders report of themselves, and what recording in detail does to a job's time, as its
// own steps show it. One owner; the functions any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trace/analysis/figures/figures.h"

namespace shardlens::trace::analysis {

// By which share a job took longer because of what cost so much of its time.
double slowdown(double cost_ns, double time_ns);

// From measured steps with and without detail, if the schedule has enough of both, and if what lies
// between their medians is more than chance: else no figure at all would be better than this one.
std::optional<double> measured_slowdown(const std::vector<StepFigures>& steps);

class RecorderReports {
 public:
  void set(const model::RecorderCost& cost);  // of its rank so far
  // Returns the number of rows ignored as impossible: 0 or 1.
  int add(const model::Lost& lost);

  std::optional<model::RecorderCost> cost_of(int rank) const;
  // `step_times_ns`: by rank, the time of all its steps. `on_gpu`: of a job that computed on GPUs.
  RecorderFigures figures(std::span<const std::int64_t> step_times_ns,
                          const std::vector<StepFigures>& steps, bool on_gpu) const;

 private:
  std::map<int, model::RecorderCost> costs_;                    // by rank
  std::map<std::pair<int, std::string>, std::int64_t> losses_;  // by (rank, reason)
};

}  // namespace shardlens::trace::analysis
