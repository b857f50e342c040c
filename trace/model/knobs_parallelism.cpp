// What is replicated, what is sharded, and how ranks talk to each other.
#include "trace/model/knob_groups.h"

namespace shardlens::trace {

namespace {

constexpr std::string_view kDevices[] = {"auto", "cpu", "cuda"};
constexpr std::string_view kStrategies[] = {
    "ddp",        "zero1",        "no_shard",          "shard_grad_op",
    "full_shard", "hybrid_shard", "hybrid_shard_zero2"};
constexpr std::string_view kHooks[] = {"none", "fp16_compress", "bf16_compress"};
constexpr std::string_view kOnNone[] = {"on", "none"};
constexpr std::string_view kWrapPolicies[] = {"transformer_block", "size", "whole_model"};
constexpr std::string_view kPrefetches[] = {"pre", "post", "none"};
constexpr std::string_view kNcclAlgorithms[] = {"auto",         "Ring", "Tree",     "CollnetDirect",
                                                "CollnetChain", "NVLS", "NVLSTree", "PAT"};
constexpr std::string_view kNcclProtocols[] = {"auto", "LL", "LL128", "Simple"};
constexpr std::string_view kPriorities[] = {"auto", "high", "normal"};

// Strategies with buckets, and with two groups of ranks.
constexpr std::string_view kBucketed = "ddp, zero1";
constexpr std::string_view kHybrid = "hybrid_shard, hybrid_shard_zero2";

// clang-format off
constexpr Knob kParallelismKnobs[] = {
    {.name = "ranks", .label = "Ranks", .member = &Settings::ranks, .minimum = 1, .maximum = 1024,
     .essential = true,
     .explanation = "Processes that train together, one per GPU"},
    {.name = "device", .label = "Device", .member = &Settings::device, .essential = true,
     .choices = kDevices,
     .explanation = "Where the ranks compute; auto takes GPUs if there are enough"},
    {.name = "oversubscribe", .label = "Share GPUs", .member = &Settings::oversubscribe,
     .explanation = "Let several ranks share one GPU; correct, but its timings mean nothing"},
    {.name = "sharding_strategy", .label = "Strategy", .member = &Settings::sharding_strategy,
     .essential = true, .choices = kStrategies,
     .explanation = "What is replicated and what is sharded over the ranks"},
    {.name = "bucket_cap_mb", .label = "Bucket cap", .member = &Settings::bucket_cap_mb,
     .unit = "MiB", .minimum = 0.01, .maximum = 4096, .logarithmic = true, .essential = true,
     .explanation = "A bucket of gradients is reduced once its size reaches this cap",
     .applies_to = kBucketed},
    {.name = "first_bucket_mb", .label = "First bucket", .member = &Settings::first_bucket_mb,
     .unit = "MiB", .minimum = 0.01, .maximum = 4096, .may_be_auto = true, .logarithmic = true,
     .essential = true,
     .explanation = "Cap of the first bucket; auto is 1 MiB if the cap is 25, else the cap; set 25 "
                    "too where PyTorch is given bucket_cap_mb=25, which has no small first bucket",
     .applies_to = kBucketed},
    {.name = "gradient_as_bucket_view", .label = "Gradients are bucket views",
     .member = &Settings::gradient_as_bucket_view, .essential = true,
     .explanation = "Gradients live inside the buckets, which saves one copy of all gradients",
     .applies_to = kBucketed},
    {.name = "static_graph", .label = "Static graph", .member = &Settings::static_graph,
     .essential = true,
     .explanation = "Promise that the graph never changes; the first step reduces after backward",
     .applies_to = kBucketed},
    {.name = "find_unused_parameters", .label = "Find unused parameters",
     .member = &Settings::find_unused_parameters,
     .explanation = "Walk the graph every step for parameters without gradient; no rebuild of buckets",
     .applies_to = kBucketed},
    {.name = "communication_hook", .label = "Communication hook",
     .member = &Settings::communication_hook, .essential = true, .choices = kHooks,
     .explanation = "Compress gradients to 16 bits for the reduction", .applies_to = kBucketed},
    {.name = "overlap_comm", .label = "Overlap communication", .member = &Settings::overlap_comm,
     .explanation = "Reduce buckets while backward goes on; off reduces after it",
     .applies_to = kBucketed},
    {.name = "communication", .label = "Communication", .member = &Settings::communication,
     .choices = kOnNone,
     .explanation = "none leaves gradients unreduced: a ceiling for speed whose loss is invalid",
     .applies_to = "ddp"},
    {.name = "shard_group_size", .label = "Shard group", .member = &Settings::shard_group_size,
     .unit = "ranks", .minimum = 2, .maximum = 1024, .may_be_auto = true, .essential = true,
     .explanation = "Ranks that share one set of shards, replicated over the other groups; auto "
                    "is the ranks of one machine",
     .applies_to = kHybrid},
    {.name = "wrap_policy", .label = "Units", .member = &Settings::wrap_policy, .essential = true,
     .choices = kWrapPolicies,
     .explanation = "What is gathered and reduced as one unit; whole_model gathers everything at once",
     .applies_to = kUnits},
    {.name = "min_num_params", .label = "Smallest unit", .member = &Settings::min_num_params,
     .unit = "parameters", .minimum = 1, .maximum = 1e12, .logarithmic = true,
     .explanation = "With wrap_policy size, a module with at least this many parameters that are "
                    "in no unit yet becomes one",
     .applies_to = kUnits},
    {.name = "backward_prefetch", .label = "Backward prefetch",
     .member = &Settings::backward_prefetch, .essential = true, .choices = kPrefetches,
     .explanation = "Gather the next unit before (pre) or after (post) this unit's backward; none "
                    "gathers when it is needed",
     .applies_to = kShardedUnits},
    {.name = "forward_prefetch", .label = "Forward prefetch", .member = &Settings::forward_prefetch,
     .essential = true,
     .explanation = "Ask for the next unit before this one's forward; without, its gather overlaps "
                    "only on a GPU, as far as the host is ahead of it",
     .applies_to = kShardedUnits},
    {.name = "limit_all_gathers", .label = "Limit all-gathers",
     .member = &Settings::limit_all_gathers,
     .explanation = "On a GPU the host waits until at most two gathered units are alive, as FSDP 1 "
                    "does by default; a unit's memory is used again in the stream's order, so "
                    "fully_shard and this trainer need no such wait",
     .applies_to = kShardedUnits},
    {.name = "reshard_after_forward", .label = "Free units after forward",
     .member = &Settings::reshard_after_forward, .choices = kAutoBool,
     .explanation = "Follows from the strategy; another value than its own is refused",
     .applies_to = kUnits},
    {.name = "separate_communicators", .label = "Separate communicators",
     .member = &Settings::separate_communicators,
     .explanation = "All-gathers get a communicator of their own, so that they do not queue behind "
                    "reduce-scatters",
     .applies_to = kShardedUnits},
    {.name = "sync_module_states", .label = "Broadcast initial weights",
     .member = &Settings::sync_module_states,
     .explanation = "Rank 0's weights and buffers are broadcast at the start; DDP always does",
     .applies_to = kUnits},
    {.name = "use_orig_params", .label = "Original parameters",
     .member = &Settings::use_orig_params,
     .explanation = "Always true: the optimizer sees every parameter by its own name, never a flat "
                    "one",
     .applies_to = kUnits},
    {.name = "collective_timeout_s", .label = "Collective timeout",
     .member = &Settings::collective_timeout_s, .unit = "s", .minimum = 1, .maximum = 86400,
     .logarithmic = true,
     .explanation = "A collective that takes longer ends the run and names the rank that did not arrive"},
    {.name = "threads_per_rank", .label = "Threads per rank", .member = &Settings::threads_per_rank,
     .unit = "threads", .minimum = 1, .maximum = 1024, .may_be_auto = true,
     .explanation = "CPU threads of each rank; auto is cores divided by ranks"},
    {.name = "nccl_algo", .label = "NCCL algorithm", .member = &Settings::nccl_algo,
     .choices = kNcclAlgorithms, .choices_are_open = true,
     .accepted = "one of auto, Ring, Tree, CollnetDirect, CollnetChain, NVLS, NVLSTree or PAT, "
                 "several with commas between, ^ before those that are not to be used, or "
                 "function:list, separated by semicolons",
     .explanation = "NCCL_ALGO on GPUs: the algorithms NCCL may take, as Ring,Tree or Ring;allreduce:Tree, "
                    "or after ^ those it may not; a function that is left with none fails (only Ring "
                    "broadcasts); auto lets it choose by size"},
    {.name = "nccl_proto", .label = "NCCL protocol", .member = &Settings::nccl_proto,
     .choices = kNcclProtocols, .choices_are_open = true,
     .accepted = "one of auto, LL, LL128 or Simple, several with commas between, ^ "
                 "before those that are not to be used, or function:list, separated by semicolons",
     .explanation = "NCCL_PROTO on GPUs: LL has the least latency, LL128 wants NVLink, Simple has the "
                    "most bandwidth; auto lets NCCL choose by size"},
    {.name = "nccl_min_channels", .label = "NCCL channels, at least",
     .member = &Settings::nccl_min_channels, .unit = "channels", .minimum = 1, .maximum = 64,
     .may_be_auto = true,
     .explanation = "NCCL_MIN_NCHANNELS on GPUs: blocks that every collective takes from computation "
                    "at least"},
    {.name = "nccl_max_channels", .label = "NCCL channels, at most",
     .member = &Settings::nccl_max_channels, .unit = "channels", .minimum = 1, .maximum = 64,
     .may_be_auto = true,
     .explanation = "NCCL_MAX_NCHANNELS on GPUs: fewer leave more of the GPU to computation, at less "
                    "bandwidth"},
    {.name = "cuda_device_max_connections", .label = "CUDA work queues",
     .member = &Settings::cuda_device_max_connections, .unit = "queues", .minimum = 1,
     .maximum = 32, .may_be_auto = true,
     .explanation = "CUDA_DEVICE_MAX_CONNECTIONS: queues from the host to a GPU; with 1 kernels start "
                    "in the order of their launches, auto is CUDA's 8"},
    {.name = "comm_stream_priority", .label = "Priority of communication",
     .member = &Settings::comm_stream_priority, .choices = kPriorities,
     .explanation = "On GPUs high lets collectives start before waiting blocks of computation; "
                    "auto is as in PyTorch: high for units, normal for buckets"},
};
// clang-format on

}  // namespace

std::span<const Knob> parallelism_knobs() { return kParallelismKnobs; }

}  // namespace shardlens::trace
