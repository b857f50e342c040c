// Predicts what other settings would do to one recorded run: each of its steps is scheduled twice,
// with the recorded settings and with others, and the difference is added to what was measured.
// Any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/analysis/noise/mean_estimate.h"
#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trace/predict/record/recorded_steps.h"
#include "trace/predict/schedule/step_program.h"
#include "trace/tuning/call_costs.h"
#include "trace/tuning/predictable.h"
#include "trace/tuning/prediction.h"
#include "trace/tuning/step_planner.h"
#include "trace/tuning/told_settings.h"

namespace shardlens::trace::tuning {

inline constexpr std::int64_t kTypicalStep = -1;  // the one with the median time

class Predictor {
 public:
  // `recorded`: of the same run as `figures`. Error kUsage: nothing can be predicted from it, and
  // why.
  static base::Result<Predictor> create(const analysis::RunFigures& figures,
                                        const predict::RecordedSteps& recorded,
                                        const KnownCosts& known = {});

  // Error kUsage: settings that contradict each other, a change that cannot be predicted, or sizes
  // that the run tells nothing of, by name. Milliseconds for a model of thousands of tensors.
  base::Result<Prediction> predict(const job::Settings& next) const;
  // The same of those changes alone whose effect is known; the others are listed as left out, but
  // not those of settings that another program's run does not tell.
  base::Result<Prediction> predict_known(const job::Settings& next) const;

  // Predicts the step `index`, or, where that tells too little, the typical one. Otherwise as
  // predict_known().
  base::Result<PredictedStep> predict_step(const job::Settings& next, std::int64_t index) const;
  // The same step with the settings and the costs that the run was recorded with.
  PredictedStep recorded_step(std::int64_t index) const { return step_of(recorded_plan_, index); }
  // Prediction and step together, from one plan. `is_first_given`: see told_changes().
  struct Forecast {
    Prediction prediction;
    PredictedStep step;
  };
  base::Result<Forecast> predict_with_step(const job::Settings& next, std::int64_t index,
                                           bool is_first_given = false) const;

  // By how much the peak of a rank's tensors would grow, also where no time can be predicted. None:
  // see StepPlanner.
  std::optional<std::int64_t> more_bytes(const job::Settings& next) const {
    return planner_.more_bytes(next);
  }

  // With the settings that it was recorded with: of another program's those that it tells.
  const model::RunInfo& info() const { return info_; }
  // None: all are known.
  const std::optional<ToldSettings>& told() const { return told_; }

 private:
  // Of a step's schedule, in nanoseconds.
  struct Times {
    double mean_ns = 0, exposed_ns = 0, contended_ns = 0;
    std::int64_t end_ns = 0;
  };
  // The likeliest, and with what is not sure at its bounds: contention, and transfers.
  struct Cases {
    Times likeliest, least_contended, most_contended, shortest, longest;
  };
  struct Differences;
  struct Planned {
    Changes changes;
    StepPlan plan;
  };

  Predictor(const analysis::RunFigures& figures, StepPlanner planner,
            analysis::MeanEstimate step_ns);
  static base::Result<Predictor> create_known(const analysis::RunFigures& figures,
                                              const predict::RecordedSteps& recorded,
                                              const KnownCosts& known);
  base::Result<Changes> changes(const job::Settings& next, bool is_first_given) const;

  base::Result<Planned> planned(const job::Settings& next, bool is_first_given = false) const;
  base::Result<Prediction> predict_planned(const job::Settings& next, const Planned& planned) const;
  PredictedStep step_of(StepPlan plan, std::int64_t index) const;
  Cases cases(std::size_t step, const predict::StepProgram& program, std::size_t ranks) const;
  std::size_t stride(const StepPlan& plan) const;
  std::size_t step_like(std::int64_t index) const;
  void add_intervals(const StepPlan& plan, const Differences& differences,
                     Prediction& prediction) const;
  void add_memory(const job::Settings& next, Prediction& prediction) const;

  model::RunInfo info_;
  std::optional<ToldSettings> told_;
  bool is_link_untold_ = false;       // of what is known beside the run
  analysis::MeanEstimate step_ns_;    // of the steps that are measured
  std::optional<double> exposed_ns_;  // as recorded
  std::vector<analysis::RankFigures> ranks_;
  StepPlanner planner_;
  Slowdown slowdown_;
  StepPlan recorded_plan_;
  std::vector<predict::StepWork> steps_;
  predict::StepSpread spread_;   // of them
  std::vector<Cases> recorded_;  // the same with the recorded settings
};

}  // namespace shardlens::trace::tuning
