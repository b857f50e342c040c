#include "trace/model/acting_settings.h"

#include "trace/job/shape/lora.h"
#include "trace/job/shape/strategy.h"

namespace shardlens::trace {

namespace {

void reset_what_is_not_obeyed(Settings& settings) {
  const Settings defaults;
  const Strategy strategy = settings.sharding_strategy;
  for (const Knob& knob : knobs()) {
    if (!applies(knob, strategy)) copy_value(knob, defaults, settings);
  }
  settings.steps = defaults.steps;
  settings.epochs = defaults.epochs;
  settings.seed = defaults.seed;
}

void choose_buckets_and_units(Settings& settings) {
  const StrategyTraits& traits = strategy_traits(settings.sharding_strategy);
  settings.first_bucket_mb = first_bucket_mb(settings.first_bucket_mb, settings.bucket_cap_mb);
  if (settings.reshard_after_forward == AutoBool::kAuto && traits.has_units) {
    settings.reshard_after_forward =
        traits.frees_after_forward ? AutoBool::kTrue : AutoBool::kFalse;
  }
  // A knob that a strategy does not obey was reset before.
  if (settings.shard_group_size == kAuto && traits.has_groups) {
    settings.shard_group_size = settings.ranks;
  }
  settings.comm_stream_priority =
      has_high_priority_streams(settings) ? StreamPriority::kHigh : StreamPriority::kNormal;
}

// Named by the first that keeps the same.
void choose_base_type(Settings& settings) {
  if (settings.base_dtype != BaseType::kAuto) return;
  const KeptTypes automatic = kept_types(settings);
  for (const BaseType type : {BaseType::kFp32, BaseType::kBf16}) {
    settings.base_dtype = type;
    const KeptTypes named = kept_types(settings);
    if (named.linear == automatic.linear && named.other == automatic.other) return;
  }
  settings.base_dtype = BaseType::kAuto;
}

void choose_types(Settings& settings) {
  choose_base_type(settings);
  if (!strategy_traits(settings.sharding_strategy).has_units) return;
  if (settings.param_dtype == DataType::kAuto) settings.param_dtype = DataType::kFp32;
  if (settings.reduce_dtype == DataType::kAuto) settings.reduce_dtype = settings.param_dtype;
}

}  // namespace

double first_bucket_mb(double chosen, double bucket_cap_mb) {
  if (chosen != static_cast<double>(kAuto)) return chosen;
  return bucket_cap_mb == Settings{}.bucket_cap_mb ? 1 : bucket_cap_mb;
}

Settings acting_settings(const RunInfo& info, const ChosenValues& chosen) {
  Settings settings = info.settings;
  reset_what_is_not_obeyed(settings);
  settings.ranks = info.world_size;
  settings.device = device_choice(info.device);
  choose_buckets_and_units(settings);
  choose_types(settings);
  if (settings.packing == AutoBool::kAuto && settings.data == Settings().data)
    settings.packing = AutoBool::kTrue;
  if (chosen.threads_per_rank > 0) settings.threads_per_rank = chosen.threads_per_rank;
  if (chosen.loss_chunk_tokens != kAuto) settings.loss_chunk_tokens = chosen.loss_chunk_tokens;
  return settings;
}

}  // namespace shardlens::trace
