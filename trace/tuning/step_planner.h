// From settings to what a step of a recorded run's job would do with them. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trace/job/shape/parameter_shapes.h"
#include "trace/predict/record/recorded_steps.h"
#include "trace/predict/schedule/step_program.h"
#include "trace/predict/schedule/unit_program.h"
#include "trace/predict/sizes/model_units.h"
#include "trace/predict/sizes/planned_job.h"
#include "trace/tuning/call_costs.h"
#include "trace/tuning/contention.h"
#include "trace/tuning/layer_moments.h"
#include "trace/tuning/prediction.h"
#include "trace/tuning/work_factor.h"

namespace shardlens::trace::tuning {

struct StepPlan : PlanTraits {
  predict::StepProgram program;
  std::size_t ranks = 0;     // that go through it
  double spread_ns = 0;      // of its transfers, as they were measured
  double micro_batches = 1;  // in those of a recorded step
  // How much more or less than planned the work of sequences of another length may be, in a
  // recorded step's.
  double unsure_work = 0;
};

class StepPlanner {
 public:
  StepPlanner(const analysis::RunFigures& figures, const predict::RecordedSteps& recorded,
              const KnownCosts& known = {});

  // Those that can be scheduled with the recorded settings.
  std::vector<predict::StepWork> steps(const predict::RecordedSteps& recorded) const;

  // Error kUsage: the run tells nothing of what the settings ask for, by name.
  base::Result<StepPlan> plan(const job::Settings& settings) const;
  // With the settings and the costs of the run.
  base::Result<StepPlan> plan_recorded() const;
  // Whether collectives are taken to cost something else than in the run.
  bool has_other_costs() const { return other_costs_.has_value(); }

  // Why what it takes is not known.
  std::string no_such_size(const predict::PlannedCall& call) const;

  // What these steps tell of it.
  Slowdown slowdown(const std::vector<predict::StepWork>& steps) const {
    return fit_slowdown(steps, gradient_names_,
                        info_.device == "cuda" ? kOfMultiprocessors : kOfCores);
  }

  // Samples of a step, in those of a recorded one.
  double samples(const job::Settings& settings) const;
  // The same of tokens, as if every sequence were full.
  double tokens(const job::Settings& settings) const;
  // By how much the peak of a rank's tensors would grow; none: the model's shape is not known, or
  // not how long its sequences would be.
  std::optional<std::int64_t> more_bytes(const job::Settings& settings) const;

 private:
  base::Result<StepPlan> plan_with(const CallCosts& costs, const job::Settings& settings) const;
  base::Result<StepPlan> plan_buckets(const job::Settings& settings) const;
  base::Result<StepPlan> plan_units(const job::Settings& settings) const;
  // Error kUsage: what units would do is not known, and why.
  base::Result<void> check_units(const job::Settings& settings) const;
  std::vector<predict::PlannedUnit> units(const predict::ShardSizes& shards) const;
  // What a run tells that was recorded from another program.
  void tell_units(const predict::RecordedSteps& recorded);
  bool tells_units(const predict::StepWork& step) const;
  void tell_habits(const job::Settings& settings, predict::UnitProgramPlan& plan) const;
  KeptUnits kept_units(const job::Settings& settings) const;
  predict::SecondForwardCost second_forward_cost() const;
  // Ranks that reduce a bucket together.
  std::int64_t reducing_ranks(const job::Settings& settings) const;
  std::vector<predict::UpdatePlan::Sum> norm_sums(const job::Settings& settings) const;
  // What ranks agree on in a step with these settings: before the optimizer and behind it.
  void add_agreements(const job::Settings& settings, predict::UpdatePlan& update) const;
  void add_update(const job::Settings& settings, double slower, StepPlan& plan) const;
  base::Result<void> add_costs(const CallCosts& costs, const job::Settings& settings, double slower,
                               StepPlan& plan) const;
  predict::PlannedJob job_with(const job::Settings& settings) const;
  // To how many tokens texts would be cut that were not all as long as they might be.
  bool changes_padded(const job::Settings& settings) const;
  // For how many others each of them is padded.
  bool changes_padding(const job::Settings& settings) const;
  // Sequences in the length of recorded ones.
  double sequence_ratio(const job::Settings& settings) const;
  base::Result<WorkFactor> work_of_sequences(const job::Settings& settings) const;
  // How much longer a rank takes to compute the same with as many ranks as these; none: not known.
  std::optional<double> pace(const job::Settings& settings) const;

  model::RunInfo info_;
  job::Settings recorded_;                    // as they act
  std::optional<std::int64_t> padded_width_;  // of its batches; none: all were full
  PaddedWork padded_work_;                    // of those
  std::optional<std::int64_t> cores_;         // of the machine; none: not known
  std::optional<predict::PlannedJob> job_;    // as recorded; none: see why_no_job_
  std::string why_no_job_;                    // the end of a sentence; empty: there is one
  std::int64_t recorded_bytes_ = 0;           // estimated at the peak
  std::int64_t bucket_group_ = 0;             // ranks that reduce a bucket together, if not all
  std::vector<std::int64_t> gradient_bytes_;  // in the order in which they come
  std::vector<std::string> gradient_names_;   // their parameters
  std::optional<LayerClock> clock_;  // none: neither the model's shape is known nor its units
  std::vector<job::ParameterShape> parameters_;   // of the model, likewise
  std::optional<double> attention_share_;         // of what is computed; none: not known
  double steady_share_ = 0;                       // likewise: see RecordedSteps::steady_share()
  double reducing_share_ = 0;                     // see RecordedSteps::reducing_share()
  std::vector<predict::PlannedUnit> told_units_;  // of another program, the root first
  predict::UnitHabits habits_;                    // likewise
  double copy_ns_per_byte_ = 0;  // of a shard, by a GPU before a gather; 0 also where none was
  CallCosts costs_;
  std::optional<CallCosts> other_costs_;  // of the next settings; none: the same
};

}  // namespace shardlens::trace::tuning
