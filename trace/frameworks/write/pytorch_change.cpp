#include <string_view>

#include "trace/frameworks/write/framework_export.h"
#include "trace/job/shape/strategy.h"
#include "trace/model/acting_settings.h"

namespace shardlens::trace::frameworks {
namespace {

using job::Settings;

std::string text_of(std::string_view knob, const Settings& settings) {
  return value_text(settings, *job::find_knob(knob));
}

std::string in_ddp(const std::string& argument) {
  return "DistributedDataParallel(…, " + argument + ")";
}

std::string in_wrapper(const std::string& argument) {
  return "FullyShardedDataParallel(…, " + argument + ")";
}

// Said aloud, 25 is no default: the first bucket is then no smaller one.
std::string bucket_change(const Settings& s) {
  const double first = model::first_bucket_mb(s.first_bucket_mb, s.bucket_cap_mb);
  if (s.bucket_cap_mb == Settings{}.bucket_cap_mb && first == 1) {
    return "DistributedDataParallel(…) without bucket_cap_mb";
  }
  const std::string cap = text_of("bucket_cap_mb", s);
  if (first == s.bucket_cap_mb) return in_ddp("bucket_cap_mb=" + cap);
  Settings said = s;
  said.first_bucket_mb = first;
  return in_ddp("bucket_cap_mb_list=[" + text_of("first_bucket_mb", said) + ", " + cap + "]");
}

std::string hook_change(const std::string& name) {
  if (name == "none") return "DistributedDataParallel without register_comm_hook()";
  return "model.register_comm_hook(None, default_hooks." + name + "_hook)";
}

// What PyTorch calls a strategy; only that which is not public begins with "_".
std::string enumerator(std::string strategy) {
  for (char& c : strategy) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return "ShardingStrategy." + std::string(strategy == "HYBRID_SHARD_ZERO2" ? "_" : "") + strategy;
}

std::string sharding_change(const Settings& s, bool are_wrapped) {
  if (are_wrapped) {
    return in_wrapper("sharding_strategy=" + enumerator(text_of("sharding_strategy", s)));
  }
  const bool frees = job::strategy_traits(s.sharding_strategy).frees_after_forward;
  return std::string("fully_shard(unit, …, reshard_after_forward=") + (frees ? "True" : "False") +
         ")";
}

std::string backward_prefetch(const std::string& value, bool are_wrapped) {
  if (!are_wrapped) return "";  // fully_shard always gathers ahead, as pre does
  if (value == "none") return in_wrapper("backward_prefetch=None");
  return in_wrapper(std::string("backward_prefetch=BackwardPrefetch.BACKWARD_") +
                    (value == "pre" ? "PRE" : "POST"));
}

std::string forward_prefetch(bool prefetches, bool are_wrapped) {
  if (are_wrapped) {
    return in_wrapper(prefetches ? "forward_prefetch=True" : "forward_prefetch=False");
  }
  return prefetches ? "unit.set_modules_to_forward_prefetch([next_unit]) of each unit"
                    : "fully_shard without set_modules_to_forward_prefetch()";
}

std::string micro_batch_change(const Settings& s) {
  const std::string count = text_of("gradient_accumulation_steps", s);
  if (s.gradient_accumulation_steps == 1) return "optimizer.step() behind each backward";
  const std::string all = count + " times forward and backward per optimizer.step()";
  if (s.sync_each_batch) return all;
  return all + (job::strategy_traits(s.sharding_strategy).has_units
                    ? ", set_requires_gradient_sync(False) or no_sync() for all but the last"
                    : ", no_sync() around all but the last");
}

}  // namespace

std::string pytorch_change(const job::Knob& knob, const Settings& settings, bool are_wrapped) {
  const std::string value = value_text(settings, knob);
  if (knob.name == "bucket_cap_mb" || knob.name == "first_bucket_mb") {
    return bucket_change(settings);
  }
  if (knob.name == "communication_hook") return hook_change(value);
  if (knob.name == "sharding_strategy" || knob.name == "reshard_after_forward") {
    return sharding_change(settings, are_wrapped);
  }
  if (knob.name == "backward_prefetch") return backward_prefetch(value, are_wrapped);
  if (knob.name == "forward_prefetch") {
    return forward_prefetch(settings.forward_prefetch, are_wrapped);
  }
  if (knob.name == "gradient_accumulation_steps" || knob.name == "sync_each_batch") {
    return micro_batch_change(settings);
  }
  return knob.name == "ranks" ? "torchrun --nproc-per-node " + value : "";
}

}  // namespace shardlens::trace::frameworks
