// To add a rule: a function beside those of its subject and in rules.h, a row here, a row in
// docs/ADVICE.md, and a test where it speaks and one where it is silent.
#include <array>

#include "trace/advice/advisor.h"
#include "trace/advice/rules.h"

namespace shardlens::trace::advice {

namespace {

constexpr std::array kRules{
    Rule{"overlap", Topic::kOverlap, "buckets", "overlap_comm", overlap},
    Rule{"bucket_cap", Topic::kBucketSizes, "buckets", "bucket_cap_mb", bucket_cap},
    Rule{"first_bucket", Topic::kBucketSizes, "buckets", "first_bucket_mb", first_bucket},
    Rule{"last_bucket", Topic::kBucketSizes, "buckets", "bucket_cap_mb", last_bucket},
    Rule{"big_tensor", Topic::kBucketSizes, "buckets", "bucket_cap_mb", big_tensor},
    Rule{"bucket_views", Topic::kBucketMemory, "memory", kAllSettings, bucket_views},
    Rule{"compression", Topic::kCompression, "communication", "communication_hook", compression},
    Rule{"unused_parameters", Topic::kUnusedParameters, "unused parameters", kAllSettings,
         unused_parameters},
    Rule{"static_graph", Topic::kUnusedParameters, "unused parameters", kAllSettings, static_graph},
    Rule{"accumulation", Topic::kAccumulation, "accumulation", "sync_each_batch", accumulation},
    Rule{"backward_prefetch", Topic::kPrefetch, "gathers", "backward_prefetch", backward_prefetch},
    Rule{"late_prefetch", Topic::kPrefetch, "gathers", "backward_prefetch", late_prefetch},
    Rule{"forward_prefetch", Topic::kForwardPrefetch, "gathers", "forward_prefetch",
         forward_prefetch},
    Rule{"small_units", Topic::kUnitSizes, "units", kAllSettings, small_units},
    Rule{"large_units", Topic::kUnitSizes, "units", kAllSettings, large_units},
    Rule{"keep_units", Topic::kStrategy, "memory", "sharding_strategy", keep_units},
    Rule{"free_units", Topic::kStrategy, "memory", kAllSettings, free_units},
    Rule{"less_communication", Topic::kStrategy, "communication", kAllSettings, less_communication},
    Rule{"hybrid_sharding", Topic::kStrategy, "nodes", kAllSettings, hybrid_sharding},
    Rule{"larger_batch", Topic::kBatch, "memory", kAllSettings, larger_batch},
    Rule{"recomputation", Topic::kRecomputation, "memory", kAllSettings, recomputation},
    Rule{"straggler", Topic::kStraggler, "who waits for whom", kNothing, straggler},
    Rule{"late_data", Topic::kData, "data", kNothing, late_data},
    Rule{"tiny_kernels", Topic::kHost, "kernels and launches", kNothing, tiny_kernels},
    Rule{"host_bound", Topic::kHost, "kernels and launches", kNothing, host_bound},
    Rule{"loss_reading", Topic::kLoss, "the loss", kAllSettings, loss_reading},
    Rule{"nccl_choice", Topic::kLink, "the link", kAllSettings, nccl_choice},
    Rule{"slow_link", Topic::kLink, "the link", kNothing, slow_link},
    Rule{"heat", Topic::kHeat, "clocks", kNothing, heat},
    Rule{"power", Topic::kPower, "clocks", kNothing, power},
};

}  // namespace

std::span<const Rule> rules() { return kRules; }

}  // namespace shardlens::trace::advice
