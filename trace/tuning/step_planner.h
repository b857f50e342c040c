// From settings to what a step of a recorded run's job would do with them. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trace/predict/schedule/ddp_schedule.h"
#include "trace/predict/schedule/recorded_steps.h"
#include "trace/predict/sizes/planned_job.h"
#include "trace/tuning/reduction_costs.h"

namespace shardlens::trace::tuning {

struct StepPlan {
  predict::DdpPlan ddp;
  double spread_ns = 0;  // of its transfers, as they were measured
  bool is_extrapolated = false;
  bool scales_computation = false;  // other batches, or another part of forward computed twice
};

class StepPlanner {
 public:
  StepPlanner(const analysis::RunFigures& figures, const predict::RecordedSteps& recorded);

  // Error kUsage: the run tells nothing of what the settings ask for, by name.
  base::Result<StepPlan> plan(const job::Settings& settings) const;

  // Samples of a step, in those of a recorded one.
  double samples(const job::Settings& settings) const;
  // By how much the peak of a rank's tensors would grow; none: the model's shape is not known.
  std::optional<std::int64_t> more_bytes(const job::Settings& settings) const;

 private:
  std::optional<double> more_forwards(const job::Settings& settings) const;
  base::Result<void> add_buckets(const job::Settings& settings, StepPlan& plan) const;

  job::Settings recorded_;
  std::optional<predict::PlannedJob> job_;    // as recorded; none: its shape is not known
  std::int64_t recorded_bytes_ = 0;           // estimated at the peak
  std::vector<std::int64_t> gradient_bytes_;  // in the order in which they come
  ReductionCosts costs_;
};

}  // namespace shardlens::trace::tuning
