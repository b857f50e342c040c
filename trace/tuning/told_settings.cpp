#include "trace/tuning/told_settings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "trace/model/untold.h"

namespace shardlens::trace::tuning {

using base::Result;
using job::Settings;
using predict::CapRange;
using predict::RecordedSteps;

namespace {

constexpr double kMib = 1024.0 * 1024.0;
constexpr double kLargestMib = 4096;  // that a cap may be set to

constexpr auto kToldByAll = std::to_array<std::string_view>(
    {"simulate_link", "gradient_accumulation_steps", "sync_each_batch"});
constexpr auto kToldByBuckets =
    std::to_array<std::string_view>({"bucket_cap_mb", "first_bucket_mb", "overlap_comm"});
constexpr auto kToldByUnits = std::to_array<std::string_view>(
    {"sharding_strategy", "reshard_after_forward", "backward_prefetch", "forward_prefetch"});

// What is recorded is a range of them.
bool is_cap(const job::Knob& knob) {
  return knob.name == "bucket_cap_mb" || knob.name == "first_bucket_mb";
}

bool holds(const CapRange& range, double mib) {
  return range.holds(static_cast<std::int64_t>(mib * kMib));
}

// The roundest value of the range, and a large one rather than a small one.
double round_value(const CapRange& range) {
  const double above = static_cast<double>(range.above_bytes) / kMib;
  const double most = range.has_end() ? static_cast<double>(range.up_to_bytes) / kMib
                                      : std::clamp(2 * above, 100.0, kLargestMib);
  for (double power = 1000; power >= 0.001; power /= 10) {
    for (const double part : {1.0, 0.5, 0.25}) {
      const double grid = power * part, value = std::floor(most / grid) * grid;
      if (value > 0 && holds(range, value)) return value;
    }
  }
  return most;
}

tl::unexpected<base::Error> refuse_gradients(const RecordedSteps& recorded) {
  if (!recorded.why_no_units().empty()) {
    return refuse(recorded.why_no_units() +
                  ". A prediction needs which unit each collective gathered or reduced. Record a "
                  "program whose wrapped modules each run once in forward and in backward, with "
                  "torch.profiler.profile(record_shapes=True).");
  }
  if (!recorded.why_no_buckets().empty()) {
    return refuse(recorded.why_no_buckets() +
                  ". A prediction needs which gradients each reduction held, which it finds in "
                  "traces of DDP by PyTorch's profiler, recorded with record_shapes=True.");
  }
  if (recorded.has_buckets()) {
    return refuse(
        "The run does not tell the sizes of its gradients, which other buckets would be made of. "
        "Record with torch.profiler.profile(record_shapes=True).");
  }
  return refuse(
      "The run was recorded from another program and does not tell when gradients were ready, nor "
      "in which buckets or units they were reduced. Traces by PyTorch's profiler of DDP, "
      "fully_shard or FullyShardedDataParallel do, one file per rank, recorded with "
      "record_shapes=True and schedule(wait=1, warmup=1, active=16) (`shardlens import`).");
}

// Of the calls' type, where it is not the gradients' own.
Result<job::CommunicationHook> told_hook(const RecordedSteps::ReducedType& reduced) {
  if (!reduced.is_halved) return job::CommunicationHook::kNone;
  if (reduced.name == "float16") return job::CommunicationHook::kFp16Compress;
  if (reduced.name == "bfloat16") return job::CommunicationHook::kBf16Compress;
  return refuse("Its gradients were reduced as " + reduced.name +
                ", which no communication hook does that is known here.");
}

// Knobs of which it is known what they were, and what others would do.
std::vector<const job::Knob*> told_knobs(const model::RunInfo& info,
                                         std::span<const std::string_view> by_strategy) {
  std::vector<const job::Knob*> knobs;
  for (const std::string_view name : by_strategy) knobs.push_back(job::find_knob(name));
  for (const std::string_view name : kToldByAll) knobs.push_back(job::find_knob(name));
  // On a CPU ranks share cores, of which a trace does not tell how many.
  if (info.device == "cuda") knobs.push_back(job::find_knob("ranks"));
  return knobs;
}

// "layers.0.attention" beside "layers.0"; "": none lies within another, but for the root.
std::string nested_unit(std::vector<std::string> names) {
  if (!names.empty()) names.erase(names.begin());
  for (const std::string& inner : names) {
    for (const std::string& outer : names) {
      if (inner.starts_with(outer + ".")) return inner;
    }
  }
  return "";
}

// How often a step computes gradients, and whether each time they are reduced.
Result<void> tell_micro_batches(const RecordedSteps& recorded, Settings& settings) {
  std::set<std::size_t> micro_batches;
  const auto steps = recorded.steps();
  for (const auto& step : steps) micro_batches.insert(step.ranks.front().micro_batches.size());
  const std::set<std::size_t> reductions = recorded.reductions_of_steps();
  if (micro_batches.empty()) return {};  // Predictor says how many steps it needs
  const bool is_same = micro_batches.size() == 1 && reductions.size() == 1;
  const std::size_t count = *micro_batches.begin();
  const std::size_t reduced = reductions.empty() ? 0 : *reductions.begin();
  if (!is_same || (reduced != 1 && reduced != count)) {
    return refuse(
        "Its steps do not all compute and reduce gradients as often. Give "
        "torch.profiler.profile a schedule, and call its step() once per step of the optimizer.");
  }
  settings.gradient_accumulation_steps = static_cast<std::int64_t>(count);
  settings.sync_each_batch = count > 1 && reduced == count;
  return {};
}

}  // namespace

ChosenCaps choose_caps(const predict::FittingCaps& caps) {
  const Settings defaults;
  constexpr auto kAuto = static_cast<double>(job::kAuto);
  if (holds(caps.others, defaults.bucket_cap_mb) && holds(caps.first, 1)) {
    return {defaults.bucket_cap_mb, kAuto};
  }
  const CapRange both{std::max(caps.first.above_bytes, caps.others.above_bytes),
                      std::min(caps.first.up_to_bytes, caps.others.up_to_bytes)};
  if (both.is_empty()) return {round_value(caps.others), round_value(caps.first)};
  const double value = round_value(both);
  // With the default cap the first one is another.
  return {value, value == defaults.bucket_cap_mb ? value : kAuto};
}

namespace {

// What every run tells of its settings.
Settings told_by_all(const model::RunInfo& info) {
  Settings settings;
  settings.ranks = info.world_size;
  settings.device = job::device_choice(info.device);
  settings.skip_steps = info.settings.skip_steps;
  return settings;
}

Result<ToldSettings> told_by_buckets(const model::RunInfo& info, const RecordedSteps& recorded) {
  const auto gradients = recorded.gradients();
  if (gradients.empty()) return refuse_gradients(recorded);
  if (recorded.looks_for_unused()) return refuse(std::string(kUnusedAreLookedFor));
  std::vector<std::int64_t> bytes;
  for (const auto& gradient : gradients) bytes.push_back(gradient.bytes);
  const auto caps = predict::fitting_caps(bytes, recorded.bucket_sizes());
  if (!caps) {
    return refuse(
        "No bucket caps give the buckets that the run reduced, so what other caps would do is not "
        "known. Record DDP as PyTorch plans its buckets.");
  }
  ToldSettings told{.settings = told_by_all(info), .knobs = {}, .caps = *caps};
  Settings& settings = told.settings;
  settings.sharding_strategy = job::Strategy::kDdp;
  const ChosenCaps chosen = choose_caps(*caps);
  settings.bucket_cap_mb = chosen.bucket_cap_mb;
  settings.first_bucket_mb = chosen.first_bucket_mb;
  const auto reduced = recorded.reduced_type();
  TRY_ASSIGN(settings.communication_hook, told_hook(reduced));
  told.knobs = told_knobs(info, kToldByBuckets);
  const auto& groups = recorded.ranks_of_parts();
  if (!groups.empty() && *groups.begin() < info.world_size) {
    // More ranks might be in other groups, and where these lie no trace tells.
    std::erase(told.knobs, job::find_knob("ranks"));
    std::erase(told.knobs, job::find_knob("simulate_link"));
  }
  // What hooks halve are gradients of 32 bits.
  const bool are_wide = reduced.is_halved || reduced.name == "float32";
  if (are_wide) told.knobs.push_back(job::find_knob("communication_hook"));
  return told;
}

// Ranks that share each unit, of as many groups as add up what they have; none: not told.
std::optional<std::int64_t> shard_group(const model::RunInfo& info, const RecordedSteps& recorded) {
  std::set<std::int64_t> groups;
  for (const auto& [index, unit] : recorded.units()) {
    if (unit.bytes > 0) groups.insert(unit.shard_count);
  }
  if (groups.size() != 1) return std::nullopt;
  const std::int64_t ranks = *groups.begin();
  const bool are_parts = ranks > 1 && ranks < info.world_size && info.world_size % ranks == 0;
  return are_parts ? std::optional(ranks) : std::nullopt;
}

// Whether its units are treated in ways that can be planned.
Result<void> check_unit_habits(const model::RunInfo& info, const RecordedSteps& recorded) {
  const predict::UnitHabits habits = recorded.unit_habits();
  if (habits.is_root_gathered_again) {
    return refuse(
        "The root is gathered again in backward, which cannot be predicted so far. Let fully_shard "
        "keep it (reshard_after_forward=None).");
  }
  if (habits.are_added_up_seldom) {
    return refuse(
        "Groups of ranks do not add up what they have in each micro-batch that they sum "
        "(set_requires_all_reduce), which cannot be predicted so far. Record a program that does.");
  }
  if (habits.are_replicated && !shard_group(info, recorded)) {
    return refuse(
        "The run adds up what groups of ranks have (hybrid sharding), but not how many ranks share "
        "a unit. Record it with torch.profiler.profile(record_shapes=True), and shard all of its "
        "units on the same mesh.");
  }
  return {};
}

Result<void> check_told_units(const model::RunInfo& info, const RecordedSteps& recorded) {
  const bool are_whole = std::ranges::all_of(recorded.units(), [](const auto& unit) {
    return unit.second.bytes == 0 && unit.second.reduced_bytes > 0;
  });
  if (are_whole) {
    return refuse(
        "Its units are not sharded (NO_SHARD): nothing is gathered, and when single gradients are "
        "ready is not known. Record it with DDP, or with units that are sharded.");
  }
  // The root may hold nothing of its own.
  const auto is_known = [](const auto& unit) {
    return unit.first == 0 || (unit.second.bytes > 0 && unit.second.reduced_bytes > 0);
  };
  if (recorded.units().size() < 2 || !std::ranges::all_of(recorded.units(), is_known)) {
    return refuse(
        "The run does not tell what each of its units holds, which a prediction needs. "
        "Record every unit's collectives on the same thread as its marks, with "
        "torch.profiler.profile(record_shapes=True), and shard at least one module beside the "
        "root.");
  }
  const std::string nested = nested_unit(recorded.unit_names());
  if (!nested.empty()) {
    return refuse("Unit " + nested +
                  " lies within another one, and when a unit is left cannot be told then. Record a "
                  "program whose units follow one another.");
  }
  return check_unit_habits(info, recorded);
}

// As its marks and collectives tell it.
job::Strategy told_strategy(const predict::UnitHabits& habits) {
  using job::Strategy;
  if (habits.are_replicated) {
    return habits.are_gathered_again ? Strategy::kHybridShard : Strategy::kHybridShardZero2;
  }
  return habits.are_gathered_again ? Strategy::kFullShard : Strategy::kShardGradOp;
}

Result<ToldSettings> told_by_units(const model::RunInfo& info, const RecordedSteps& recorded) {
  TRY(check_told_units(info, recorded));
  const predict::UnitHabits habits = recorded.unit_habits();
  ToldSettings told{.settings = told_by_all(info), .knobs = {}, .caps = {}};
  Settings& settings = told.settings;
  settings.sharding_strategy = told_strategy(habits);
  if (habits.are_replicated) settings.shard_group_size = *shard_group(info, recorded);
  // Where nothing is gathered again, it is as PyTorch does unless told otherwise.
  const bool prefetches = habits.are_gathered_ahead || !habits.are_gathered_again;
  settings.backward_prefetch = !prefetches                            ? job::BackwardPrefetch::kNone
                               : habits.are_gathered_behind_gradients ? job::BackwardPrefetch::kPost
                                                                      : job::BackwardPrefetch::kPre;
  settings.forward_prefetch = habits.are_gathered_ahead_forward;
  told.are_wrapped = habits.are_wrapped;
  told.knobs = told_knobs(info, kToldByUnits);
  // More ranks might be in other groups.
  if (habits.are_replicated) std::erase(told.knobs, job::find_knob("ranks"));
  return told;
}

}  // namespace

Result<ToldSettings> told_settings(const model::RunInfo& info, const RecordedSteps& recorded) {
  if (recorded.ranks_of_parts().contains(0)) {
    return refuse(std::string(model::kUnknownGroups) + ".");
  }
  // Hosts are not in a trace.
  if (recorded.contradicts_one_clock()) {
    return refuse(
        "On some ranks collectives ended before they began on others: the ranks have the clocks of "
        "several machines, or their traces do not begin with the same step. Name a run on one, "
        "recorded for the same steps.");
  }
  TRY_ASSIGN(ToldSettings told, recorded.units().empty() ? told_by_buckets(info, recorded)
                                                         : told_by_units(info, recorded));
  TRY(tell_micro_batches(recorded, told.settings));
  TRY(job::validate(told.settings));
  return told;
}

Result<Changes> told_changes(const model::RunInfo& info, const ToldSettings& told,
                             const Settings& next, bool is_first_given) {
  Changes changes{.known = {}, .without_effect = {}, .unknown = {}, .settings = told.settings};
  for (const job::Knob* knob : told.knobs) job::copy_value(*knob, next, changes.settings);
  // Given to DDP, a cap is the first bucket's, too, also where it is the one that PyTorch takes
  // when none is given.
  const double cap = changes.settings.bucket_cap_mb, first = changes.settings.first_bucket_mb;
  const bool was_one = !is_first_given && first == told.settings.first_bucket_mb &&
                       first == told.settings.bucket_cap_mb;
  const bool follows = was_one || first == static_cast<double>(job::kAuto);
  if (told.caps && follows && cap != told.settings.bucket_cap_mb) {
    changes.settings.first_bucket_mb = cap;
  }
  // Nobody set what was told of several micro-batches: with one there is nothing that it says.
  if (told.settings.sync_each_batch && changes.settings.gradient_accumulation_steps == 1) {
    changes.settings.sync_each_batch = false;
  }
  TRY(check_values(changes.settings));
  const Settings before = acting_settings(info, told.settings);
  const Settings after = acting_settings(info, changes.settings);
  for (const job::Knob* knob : job::differing_knobs(before, after)) {
    const bool is_implied = value_text(told.settings, *knob) == value_text(next, *knob);
    const std::string recorded = is_cap(*knob) ? "as recorded" : value_text(before, *knob);
    changes.known.push_back({knob, recorded, value_text(after, *knob), is_implied});
  }
  return changes;
}

std::vector<const job::Knob*> untold_knobs(const ToldSettings& told,
                                           std::vector<const job::Knob*> asked) {
  std::erase_if(asked, [&](const job::Knob* knob) {
    return std::ranges::find(told.knobs, knob) != told.knobs.end() || is_without_effect(*knob);
  });
  return asked;
}

Result<void> refuse_untold(const ToldSettings& told, const std::vector<const job::Knob*>& asked) {
  const auto untold = untold_knobs(told, asked);
  if (untold.empty()) return {};
  std::string why = "What " + listed_names(untold) + (untold.size() == 1 ? " does" : " do");
  why +=
      " to a step's time cannot be predicted from a run of another program, which tells neither "
      "its model's shape nor its batch, its cores or other settings. Of this run it can be of ";
  return refuse(why + listed_names(told.knobs) + ".");
}

}  // namespace shardlens::trace::tuning
