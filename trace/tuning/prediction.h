// What a change of settings would do to a recorded run. Plain values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/job/settings/settings.h"
#include "trace/model/run_info.h"
#include "trace/predict/schedule/bucket_program.h"
#include "trace/predict/schedule/step_program.h"

namespace shardlens::trace::tuning {

struct Interval {  // 95 %
  double low_ns = 0, high_ns = 0;
};

struct Change {
  const job::Knob* knob = nullptr;
  std::string before, after;  // as they act
  bool is_implied = false;    // by another change: the setting itself stays, as `auto`
};

// Of another program, where single units may stay gathered for backward: torchtitan's last one by
// default, the head in Accelerate's FSDP 2.
struct KeptUnits {
  std::vector<std::string> recorded;  // while others were gathered again
  bool are_all = false;               // with these settings
  // With these settings others are gathered again, of a run in which none was: which of them would
  // still be kept it does not tell.
  bool are_untold = false;
};

// What a prediction rests on, by the plan of its steps.
struct PlanTraits {
  std::size_t parts = 0;             // buckets that a reduction of all gradients takes, or units
  bool is_extrapolated = false;      // collectives of sizes or types that the run did not have
  bool scales_computation = false;   // other batches, or another part of forward computed twice
  bool recomputes_on_cpu = false;    // the latter, where caches then hold more of what is computed
  bool scales_sequences = false;     // of other lengths
  bool scales_padding = false;       // of texts that are padded for another batch
  bool is_another_strategy = false;  // whose own work beside model and collectives is not known
  // The simulated link that is asked for would take less than what was measured without one: that
  // holds of most bytes.
  bool is_link_faster = false;
  KeptUnits kept_units{};
};

struct Prediction : PlanTraits {
  std::vector<Change> changes;  // of what acts on a step
  // Changed, too: knobs without effect on a step's time, and those that are left out, because
  // theirs is not known. Memory counts what it knows of all.
  std::vector<const job::Knob*> without_effect, left_out;
  bool has_units = false;
  bool moves_the_same = false;     // the recorded collectives, each of the recorded size
  double samples = 1, tokens = 1;  // of a step, in those of a recorded one
  // Means over the measured steps, of the mean over ranks.
  double recorded_step_ns = 0, step_ns = 0;
  std::int64_t recorded_steps = 0;  // that the first is the mean of; with detail or without
  // Of `step_ns` and of the difference to the recorded mean; none: too few steps to tell how much
  // they vary.
  std::optional<Interval> interval, difference;
  // What `difference` holds beside how much steps vary, which is known of any number of them: as
  // narrow it would be if they did not vary. None: nothing changes.
  std::optional<Interval> narrowest_difference;
  std::optional<double> recorded_exposed_ns, exposed_ns;
  struct Peak {  // of tensors, of one rank
    int rank = 0;
    std::int64_t recorded_bytes = 0, bytes = 0;
  };
  std::vector<Peak> peaks;  // by rank; empty: the model's shape is not known
  std::int64_t steps = 0;   // that the change was predicted of
  // Other ranks on GPUs, and no simulated link says how many machines they would be on.
  bool keeps_link_of_other_ranks = false;
  bool has_other_costs = false;  // of collectives than the run, as given beside the settings
  bool is_link_untold = false;   // see KnownCosts
  bool is_of_failed_run = false;
  bool is_on_gpus = false, shares_gpu = false;  // what predictions were held against is less there
  // Its settings are not known, but what it told of them; of DDP caps that give its buckets.
  bool is_of_another_program = false;
  std::optional<predict::FittingCaps> told_caps{};
  // By how much communication slows computation beside it matters to the change, and how little of
  // that the run tells: the width of its 95 % interval, of which 0 is all and 1 nothing.
  bool depends_on_contention = false;
  double contention_range = 0;

  bool is_as_recorded() const { return changes.empty() && !has_other_costs; }
  double difference_ns() const { return step_ns - recorded_step_ns; }
  // Of the time per token: −0.1 is a tenth less.
  double change_per_token() const { return step_ns / tokens / recorded_step_ns - 1; }
  // Of the rank that needs most.
  std::optional<std::int64_t> recorded_peak_bytes() const;
  std::optional<std::int64_t> peak_bytes() const;
};

// Why there is no `difference`, a sentence, and how many steps would tell; "": there is one, or
// nothing changes.
std::string why_unsure(const Prediction& prediction);

// As it is kept with a run of those settings; `from`: the name of the run that it was made from.
model::StepPrediction kept_prediction(const Prediction& prediction, std::string from);

// One step as it would be.
struct PredictedStep {
  std::int64_t index = 0;
  std::int64_t start_ns = 0;         // the first rank's, as recorded; absolute
  std::int64_t recorded_end_ns = 0;  // the last rank's
  std::int64_t end_ns = 0;
  predict::StepProgram program;  // what the schedule's calls are
  predict::StepSchedule schedule;
};

}  // namespace shardlens::trace::tuning
