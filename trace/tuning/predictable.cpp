#include "trace/tuning/predictable.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "trace/job/shape/strategy.h"
#include "trace/model/acting_settings.h"
#include "trace/model/run_info.h"

namespace shardlens::trace::tuning {

using base::Result;
using job::Settings;

namespace {

constexpr auto kPredicted = std::to_array<std::string_view>(
    {"ranks", "batch_per_rank", "gradient_accumulation_steps", "sync_each_batch",
     "activation_checkpointing", "bucket_cap_mb", "first_bucket_mb", "overlap_comm",
     "communication_hook", "simulate_link", "sharding_strategy", "shard_group_size",
     "reshard_after_forward", "backward_prefetch", "forward_prefetch", "limit_all_gathers",
     "separate_communicators"});

std::string predicted_names() {
  std::string names;
  for (const std::string_view name : kPredicted) {
    const bool is_last = name == kPredicted.back();
    names += (names.empty() ? "" : is_last ? " and " : ", ") + std::string(name);
  }
  return names;
}

}  // namespace

Result<void> check_run(const analysis::RunFigures& figures) {
  const model::RunInfo& info = figures.info;
  if (!model::has_settings(info)) {
    return refuse(
        "The run was recorded from another program, whose settings are not known. Name a run that "
        "Shardlens trained.");
  }
  const Settings& s = info.settings;
  const bool has_units = job::strategy_traits(s.sharding_strategy).has_units;
  if (info.device == "cuda" && has_units && s.cpu_offload) {
    return refuse(
        "When a GPU's host copies shards and updates them (cpu_offload) cannot be predicted so "
        "far. "
        "Name a run without.");
  }
  if (info.world_size < 2) return refuse("One rank reduces nothing. Name a run with several.");
  if (s.communication == job::Communication::kNone) {
    return refuse("The run reduced nothing (communication: none), so it tells no cost.");
  }
  if (!has_units && s.find_unused_parameters) {
    return refuse(
        "With find_unused_parameters buckets are not in the order in which gradients come, which a "
        "prediction needs. Record one without.");
  }
  const auto told_nothing = [](const auto& rank) { return rank.info.device.empty(); };
  if (const auto silent = std::ranges::count_if(figures.ranks, told_nothing); silent > 0) {
    return refuse("Of " + std::to_string(figures.ranks.size()) + " ranks " +
                  std::to_string(silent) +
                  " left nothing in the run, and a prediction needs what each of them computed. "
                  "Copy the files of all ranks into its folder.");
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

bool is_predictable(const job::Knob& knob) {
  return std::ranges::find(kPredicted, knob.name) != kPredicted.end();
}

Result<std::vector<Change>> changes_to(const model::RunInfo& info, const Settings& next) {
  TRY(job::validate(next));
  const Settings before = acting_settings(info, info.settings);
  const Settings after = acting_settings(info, next);
  std::vector<Change> changes;
  const bool is_same_strategy = before.sharding_strategy == after.sharding_strategy;
  for (const job::Knob* knob : job::differing_knobs(before, after)) {
    const bool is_implied = value_text(info.settings, *knob) == value_text(next, *knob);
    // What only one of two strategies obeys is a part of their difference.
    if (is_implied && !is_same_strategy) continue;
    if (!is_predictable(*knob)) {
      return refuse("What " + std::string(knob->name) +
                    " does cannot be predicted from a recorded run so far; " + predicted_names() +
                    " can.");
    }
    changes.push_back({knob, value_text(before, *knob), value_text(after, *knob), is_implied});
  }
  return changes;
}

}  // namespace shardlens::trace::tuning
