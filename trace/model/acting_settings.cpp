#include "trace/model/acting_settings.h"

#include "trace/job/shape/lora.h"
#include "trace/job/shape/strategy.h"

namespace shardlens::trace::model {

namespace {

void reset_what_is_not_obeyed(job::Settings& settings, bool has_gpus) {
  const job::Settings defaults;
  const job::Strategy strategy = settings.sharding_strategy;
  for (const job::Knob& knob : job::knobs()) {
    const bool is_obeyed = job::applies(knob, strategy) && (has_gpus || !knob.needs_gpu);
    if (!is_obeyed) job::copy_value(knob, defaults, settings);
  }
  settings.steps = defaults.steps;
  settings.epochs = defaults.epochs;
  settings.seed = defaults.seed;
}

void choose_buckets_and_units(job::Settings& settings) {
  const job::StrategyTraits& traits = job::strategy_traits(settings.sharding_strategy);
  settings.first_bucket_mb = first_bucket_mb(settings.first_bucket_mb, settings.bucket_cap_mb);
  if (settings.reshard_after_forward == job::AutoBool::kAuto && traits.has_units) {
    settings.reshard_after_forward =
        traits.frees_after_forward ? job::AutoBool::kTrue : job::AutoBool::kFalse;
  }
  // A knob that a strategy does not obey was reset before.
  if (settings.shard_group_size == job::kAuto && traits.has_groups) {
    settings.shard_group_size = job::shard_group_size(settings, settings.ranks, settings.ranks);
  }
}

void choose_streams(job::Settings& settings) {
  settings.comm_stream_priority = job::has_high_priority_streams(settings)
                                      ? job::StreamPriority::kHigh
                                      : job::StreamPriority::kNormal;
}

// Named by the first that keeps the same.
void choose_base_type(job::Settings& settings) {
  if (settings.base_dtype != job::BaseType::kAuto) return;
  const job::KeptTypes automatic = job::kept_types(settings);
  for (const job::BaseType type : {job::BaseType::kFp32, job::BaseType::kBf16}) {
    settings.base_dtype = type;
    const job::KeptTypes named = job::kept_types(settings);
    if (named.linear == automatic.linear && named.other == automatic.other) return;
  }
  settings.base_dtype = job::BaseType::kAuto;
}

void choose_types(job::Settings& settings) {
  choose_base_type(settings);
  if (!job::strategy_traits(settings.sharding_strategy).has_units) return;
  if (settings.param_dtype == job::DataType::kAuto) settings.param_dtype = job::DataType::kFp32;
  if (settings.reduce_dtype == job::DataType::kAuto) settings.reduce_dtype = settings.param_dtype;
}

}  // namespace

double first_bucket_mb(double chosen, double bucket_cap_mb) {
  if (chosen != static_cast<double>(job::kAuto)) return chosen;
  return bucket_cap_mb == job::Settings{}.bucket_cap_mb ? 1 : bucket_cap_mb;
}

job::Settings acting_settings(const RunInfo& info, const ChosenValues& chosen) {
  job::Settings settings = info.settings;
  const bool has_gpus = info.device != "cpu";
  reset_what_is_not_obeyed(settings, has_gpus);
  settings.ranks = info.world_size;
  settings.device = job::device_choice(info.device);
  if (settings.shard_group_size == job::kAuto && chosen.shard_group_size > 0 &&
      job::strategy_traits(settings.sharding_strategy).has_groups) {
    settings.shard_group_size = chosen.shard_group_size;
  }
  choose_buckets_and_units(settings);
  if (has_gpus) choose_streams(settings);
  choose_types(settings);
  if (settings.packing == job::AutoBool::kAuto && settings.data == job::Settings().data)
    settings.packing = job::AutoBool::kTrue;
  if (chosen.threads_per_rank > 0) settings.threads_per_rank = chosen.threads_per_rank;
  if (chosen.loss_chunk_tokens != job::kAuto) settings.loss_chunk_tokens = chosen.loss_chunk_tokens;
  return settings;
}

}  // namespace shardlens::trace::model
