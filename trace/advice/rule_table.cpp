// To add a rule: a function beside those of its subject and in rules.h, a row here, a row in
// docs/ADVICE.md, and a test where it speaks and one where it is silent.
#include <array>

#include "trace/advice/advisor.h"
#include "trace/advice/rules.h"

namespace shardlens::trace::advice {

namespace {

constexpr std::array kRules{
    Rule{"overlap", Topic::kOverlap, "buckets", true, overlap},
    Rule{"bucket_cap", Topic::kBucketSizes, "buckets", true, bucket_cap},
    Rule{"first_bucket", Topic::kBucketSizes, "buckets", true, first_bucket},
    Rule{"last_bucket", Topic::kBucketSizes, "buckets", true, last_bucket},
    Rule{"big_tensor", Topic::kBucketSizes, "buckets", true, big_tensor},
    Rule{"bucket_views", Topic::kBucketMemory, "memory", true, bucket_views},
    Rule{"compression", Topic::kCompression, "communication", true, compression},
    Rule{"unused_parameters", Topic::kUnusedParameters, "unused parameters", true,
         unused_parameters},
    Rule{"static_graph", Topic::kUnusedParameters, "unused parameters", true, static_graph},
    Rule{"accumulation", Topic::kAccumulation, "accumulation", true, accumulation},
    Rule{"backward_prefetch", Topic::kPrefetch, "gathers", true, backward_prefetch},
    Rule{"late_prefetch", Topic::kPrefetch, "gathers", true, late_prefetch},
    Rule{"forward_prefetch", Topic::kForwardPrefetch, "gathers", true, forward_prefetch},
    Rule{"small_units", Topic::kUnitSizes, "units", true, small_units},
    Rule{"large_units", Topic::kUnitSizes, "units", true, large_units},
    Rule{"keep_units", Topic::kStrategy, "memory", true, keep_units},
    Rule{"free_units", Topic::kStrategy, "memory", true, free_units},
    Rule{"less_communication", Topic::kStrategy, "communication", true, less_communication},
    Rule{"hybrid_sharding", Topic::kStrategy, "nodes", true, hybrid_sharding},
    Rule{"larger_batch", Topic::kBatch, "memory", true, larger_batch},
    Rule{"recomputation", Topic::kRecomputation, "memory", true, recomputation},
    Rule{"straggler", Topic::kStraggler, "who waits for whom", false, straggler},
    Rule{"late_data", Topic::kData, "data", false, late_data},
    Rule{"tiny_kernels", Topic::kHost, "kernels and launches", false, tiny_kernels},
    Rule{"host_bound", Topic::kHost, "kernels and launches", false, host_bound},
    Rule{"loss_reading", Topic::kLoss, "the loss", true, loss_reading},
    Rule{"nccl_choice", Topic::kLink, "the link", true, nccl_choice},
    Rule{"slow_link", Topic::kLink, "the link", false, slow_link},
    Rule{"heat", Topic::kHeat, "clocks", false, heat},
    Rule{"power", Topic::kPower, "clocks", false, power},
};

}  // namespace

std::span<const Rule> rules() { return kRules; }

}  // namespace shardlens::trace::advice
