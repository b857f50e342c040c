#include "trace/tuning/predictable.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "trace/base/text.h"
#include "trace/job/shape/strategy.h"
#include "trace/model/acting_settings.h"
#include "trace/model/run_info.h"
#include "trace/model/untold.h"

namespace shardlens::trace::tuning {

using base::Result;
using job::Settings;

namespace {

constexpr auto kPredicted = std::to_array<std::string_view>({"ranks",
                                                             "batch_per_rank",
                                                             "sequence_length",
                                                             "gradient_accumulation_steps",
                                                             "sync_each_batch",
                                                             "activation_checkpointing",
                                                             "bucket_cap_mb",
                                                             "first_bucket_mb",
                                                             "overlap_comm",
                                                             "communication_hook",
                                                             "simulate_link",
                                                             "sharding_strategy",
                                                             "shard_group_size",
                                                             "reshard_after_forward",
                                                             "backward_prefetch",
                                                             "forward_prefetch",
                                                             "limit_all_gathers",
                                                             "separate_communicators",
                                                             "wrap_policy",
                                                             "min_num_params",
                                                             "reduce_dtype"});

// What nothing of a step's time depends on: how the learning rate goes, what is done between steps,
// and names.
constexpr auto kWithoutEffect = std::to_array<std::string_view>({"steps",
                                                                 "epochs",
                                                                 "seed",
                                                                 "learning_rate",
                                                                 "lr_schedule",
                                                                 "warmup_steps",
                                                                 "lr_decay_steps",
                                                                 "lr_min_ratio",
                                                                 "lr_cycles",
                                                                 "lr_power",
                                                                 "adam_beta1",
                                                                 "adam_beta2",
                                                                 "adam_epsilon",
                                                                 "lora_alpha",
                                                                 "evaluation_data",
                                                                 "evaluate_every",
                                                                 "evaluation_batches",
                                                                 "sample_tokens",
                                                                 "sample_prompt",
                                                                 "sample_temperature",
                                                                 "collective_timeout_s",
                                                                 "save_every",
                                                                 "keep_checkpoints",
                                                                 "checkpoint_format",
                                                                 "checkpoint_on_stop",
                                                                 "keep_best",
                                                                 "save_model",
                                                                 "merge_lora",
                                                                 "resume",
                                                                 "token_cache",
                                                                 "on_bad_lines",
                                                                 "sync_module_states",
                                                                 "use_orig_params",
                                                                 "peak_tflops",
                                                                 "skip_steps"});
// The same from one value to another, but not to 0, which leaves the work out, or from it.
constexpr auto kWithoutEffectUnlessOff =
    std::to_array<std::string_view>({"max_grad_norm", "weight_decay", "dropout", "lora_dropout"});
// With another value ranks compute, reduce or order something else, and nothing that was recorded
// holds.
constexpr auto kAnotherJob = std::to_array<std::string_view>(
    {"model", "communication", "find_unused_parameters", "frozen_blocks", "lora_rank",
     "lora_target_modules", "num_labels"});

bool is_in(const auto& names, const job::Knob& knob) {
  return std::ranges::find(names, knob.name) != names.end();
}

bool has_no_effect(const job::Knob& knob, const Settings& before, const Settings& after) {
  if (is_in(kWithoutEffect, knob)) return true;
  if (!is_in(kWithoutEffectUnlessOff, knob)) return false;
  const auto is_off = [&](const Settings& settings) {
    return std::strtod(value_text(settings, knob).c_str(), nullptr) == 0;
  };
  return !is_off(before) && !is_off(after);
}

// Of a knob that acts in another way, although it stays as it is.
bool is_implied(const job::Knob& knob, const Settings& before, const Settings& after) {
  return value_text(before, knob) == value_text(after, knob);
}

// What only one of two strategies obeys is a part of their difference.
bool is_of_strategy(const job::Knob& knob, const Settings& before, const Settings& after) {
  return before.sharding_strategy != after.sharding_strategy && is_implied(knob, before, after);
}

// Of two that act: whether ranks compute in another type since only one of the strategies obeys
// param_dtype.
bool computes_otherwise(const Settings& before, const Settings& after) {
  const auto has_units = [](const Settings& settings) {
    return job::strategy_traits(settings.sharding_strategy).has_units;
  };
  const Settings& obeys = has_units(before) ? before : after;
  return has_units(before) != has_units(after) && obeys.param_dtype != job::DataType::kFp32;
}

}  // namespace

Result<void> check_run(const analysis::RunFigures& figures) {
  const model::RunInfo& info = figures.info;
  const Settings& s = info.settings;
  const bool has_units = job::strategy_traits(s.sharding_strategy).has_units;
  if (info.device == "cuda" && has_units && s.cpu_offload) {
    return refuse(
        "When a GPU's host copies shards and updates them (cpu_offload) cannot be predicted so "
        "far. "
        "Name a run without.");
  }
  if (info.world_size == 0) return refuse(std::string(model::kUnknownRanks) + ".");
  if (info.world_size < 2) return refuse("One rank reduces nothing. Name a run with several.");
  if (s.communication == job::Communication::kNone) {
    return refuse("The run reduced nothing (communication: none), so it tells no cost.");
  }
  if (!has_units && s.find_unused_parameters) {
    return refuse(std::string(kUnusedAreLookedFor));
  }
  const auto told_nothing = [](const auto& rank) { return rank.info.device.empty(); };
  if (const auto silent = std::ranges::count_if(figures.ranks, told_nothing); silent > 0) {
    if (info.status == model::RunStatus::kRunning) {
      return refuse_so_far(
          "The run is starting. Its first steps after skip_steps tell what a prediction needs.");
    }
    return refuse("Of " + std::to_string(figures.ranks.size()) + " ranks " +
                  std::to_string(silent) +
                  " left nothing in the run, and a prediction needs what each of them computed: " +
                  (model::has_settings(info)
                       ? "copy the files of all ranks into its folder."
                       : "what one rank's reductions took holds how long it waited for others. "
                         "Import the files of all ranks together."));
  }
  std::set<std::string> hosts;
  for (const auto& rank : figures.ranks) hosts.insert(rank.info.host);
  if (hosts.size() > 1) {
    return refuse(
        "The run's ranks have the clocks of several machines, which are not near enough to each "
        "other to tell transfers. Name a run on one.");
  }
  return {};
}

std::string listed_names(const std::vector<const job::Knob*>& knobs) {
  std::vector<std::string> names;
  for (const job::Knob* knob : knobs) names.emplace_back(knob->name);
  return base::listed(names);
}

// A run of another launcher may have other ranks than its settings say.
Settings acting_settings(model::RunInfo info, const Settings& settings) {
  if (settings.ranks != info.settings.ranks) info.world_size = static_cast<int>(settings.ranks);
  info.settings = settings;
  return model::acting_settings(info, {});
}

double samples_of_a_rank(const Settings& settings) {
  return static_cast<double>(settings.batch_per_rank * settings.gradient_accumulation_steps);
}

bool changes_samples(const job::Knob& knob) {
  return knob.name == "batch_per_rank" || knob.name == "gradient_accumulation_steps";
}

bool changes_tokens(const job::Knob& knob) {
  return changes_samples(knob) || knob.name == "sequence_length";
}

bool is_predictable(const job::Knob& knob) { return is_in(kPredicted, knob); }

bool is_without_effect(const job::Knob& knob) { return is_in(kWithoutEffect, knob); }

Result<void> refuse_unknown(const std::vector<const job::Knob*>& unknown) {
  if (unknown.empty()) return {};
  const bool is_one = unknown.size() == 1;
  return refuse("What " + listed_names(unknown) + (is_one ? " does" : " do") +
                " to a step's time cannot be predicted from a recorded run so far. A run with " +
                (is_one ? "it" : "them") + " shows.");
}

Result<void> refuse_other_job(std::string_view knob) {
  return refuse("With another " + std::string(knob) +
                " ranks compute or reduce something else, of which this run tells nothing. "
                "Record a run with it.");
}

Result<void> check_values(Settings next) {
  if (next.device == job::DeviceChoice::kCuda) next.device = job::DeviceChoice::kAuto;
  return job::validate(next);
}

std::string_view other_job_knob(const model::RunInfo& info, const Settings& next) {
  // What acts is where the run's ranks were, whatever is asked for.
  const bool names_device = next.device != job::DeviceChoice::kAuto;
  if (names_device && next.device != job::device_choice(info.device)) return "device";
  const Settings before = acting_settings(info, info.settings);
  const Settings after = acting_settings(info, next);
  for (const job::Knob* knob : job::differing_knobs(before, after)) {
    if (is_in(kAnotherJob, *knob)) return knob->name;
  }
  // Asked for by name it is left out, as within a strategy.
  Settings kept = next;
  kept.param_dtype = info.settings.param_dtype;
  return computes_otherwise(before, acting_settings(info, kept)) ? "param_dtype" : "";
}

Result<Changes> changes_to(const model::RunInfo& info, const Settings& next) {
  TRY(check_values(next));
  if (const auto knob = other_job_knob(info, next); !knob.empty()) {
    TRY(refuse_other_job(knob));
  }
  Changes changes{.known = {}, .without_effect = {}, .unknown = {}, .settings = next};
  const job::Strategy strategy = next.sharding_strategy;
  for (const job::Knob* knob : job::differing_knobs(info.settings, next)) {
    if (!has_no_effect(*knob, info.settings, next) || !job::applies(*knob, strategy)) continue;
    changes.without_effect.push_back(knob);
    job::copy_value(*knob, info.settings, changes.settings);
  }
  const Settings before = acting_settings(info, info.settings);
  const Settings after = acting_settings(info, changes.settings);
  for (const job::Knob* knob : job::differing_knobs(before, after)) {
    if (is_of_strategy(*knob, info.settings, next)) continue;
    if (is_predictable(*knob)) {
      changes.known.push_back({knob, value_text(before, *knob), value_text(after, *knob),
                               is_implied(*knob, info.settings, next)});
      continue;
    }
    changes.unknown.push_back(knob);
    job::copy_value(*knob, info.settings, changes.settings);
  }
  if (!changes.unknown.empty() && !check_values(changes.settings)) {
    TRY(refuse_unknown(changes.unknown));
  }
  return changes;
}

}  // namespace shardlens::trace::tuning
