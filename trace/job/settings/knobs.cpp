// The table of all knobs, group by group in the order in which they are shown. To add a knob: a
// member of Settings, a row here, and the code that obeys it.
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "trace/job/settings/settings.h"

namespace shardlens::trace::job {

namespace {

// What rows of several groups name.
constexpr double kLarge = 1e9;  // a maximum that nobody reaches
constexpr std::string_view kAutoBool[] = {"auto", "true", "false"};
// Strategies with units, and with sharded units.
constexpr std::string_view kUnits =
    "no_shard, shard_grad_op, full_shard, hybrid_shard, hybrid_shard_zero2";
constexpr std::string_view kShardedUnits =
    "shard_grad_op, full_shard, hybrid_shard, hybrid_shard_zero2";

// ---- What is trained, and on what

constexpr std::string_view kModels[] = {"tiny",        "small",      "gpt2",
                                        "gpt2-medium", "gpt2-large", "gpt2-xl",
                                        "gpt-162m",    "gpt-1.4b",   "llama-1b"};
constexpr std::string_view kData[] = {"builtin"};
constexpr std::string_view kTokenizers[] = {"auto", "bytes"};
constexpr std::string_view kSplit[] = {"split"};
constexpr std::string_view kOnBadLines[] = {"stop", "skip"};
constexpr std::string_view kAutoOff[] = {"auto", "off"};
constexpr std::string_view kUnevenInputs[] = {"even", "join"};

// clang-format off
constexpr Knob kModelAndDataKnobs[] = {
    {.name = "model", .label = "Model", .member = &Settings::model, .essential = true,
     .choices = kModels, .choices_are_open = true,
     .explanation = "A preset, initialised from the seed, or a Hugging Face folder with config.json and "
                    "safetensors to go on from"},
    {.name = "data", .label = "Text", .member = &Settings::data, .essential = true,
     .choices = kData, .choices_are_open = true,
     .accepted = "builtin, or the path of a text file or folder",
     .explanation = "A text file, a folder of them, or JSON Lines with text, prompt and completion, "
                    "messages, or text and label; builtin is the project's own text, "
                    "as it was when this program was first built"},
    {.name = "tokenizer", .label = "Tokenizer", .member = &Settings::tokenizer,
     .choices = kTokenizers, .choices_are_open = true,
     .explanation = "auto is the model folder's own, bytes for presets; or a folder with tokenizer.json, "
                    "with vocab.json and merges.txt, or with vocab.txt"},
    {.name = "evaluation_data", .label = "Evaluation text", .member = &Settings::evaluation_data,
     .choices = kSplit, .choices_are_open = true,
     .explanation = "A file or folder to evaluate on, of the same form; split keeps a share of the text"},
    {.name = "batch_per_rank", .label = "Batch per rank", .member = &Settings::batch_per_rank,
     .unit = "sequences", .minimum = 1, .maximum = 65536, .logarithmic = true, .essential = true,
     .explanation = "Sequences that each rank processes in one micro-batch"},
    {.name = "sequence_length", .label = "Sequence length", .member = &Settings::sequence_length,
     .unit = "tokens", .minimum = 2, .maximum = 131072, .logarithmic = true, .essential = true,
     .explanation = "Tokens per sequence"},
    {.name = "packing", .label = "Pack sequences", .member = choice_member<&Settings::packing>(),
     .choices = kAutoBool,
     .explanation = "Put documents one after another and cut them into full sequences; false pads each "
                    "to the longest of its batch and cuts longer ones; auto packs plain text"},
    {.name = "completion_only_loss", .label = "Learn completions only",
     .member = &Settings::completion_only_loss,
     .explanation = "Prompts, system and user messages are read but left out of the loss"},
    {.name = "num_labels", .label = "Classes", .member = &Settings::num_labels, .unit = "classes",
     .minimum = 2, .maximum = 65536, .may_be_auto = true,
     .explanation = "Classes that a classifier tells apart, with a new head where the model folder's has "
                    "another number; auto is the folder's"},
    {.name = "on_bad_lines", .label = "On bad lines", .member = choice_member<&Settings::on_bad_lines>(),
     .choices = kOnBadLines,
     .explanation = "Whether a line of JSON Lines that cannot be used ends the run or is counted and "
                    "left out"},
    {.name = "token_cache", .label = "Token cache", .member = &Settings::token_cache,
     .choices = kAutoOff, .choices_are_open = true,
     .explanation = "Folder that keeps tokenized texts for the next run and may be emptied at any time; "
                    "auto is the user's cache folder, where plain text as bytes is kept from 64 MiB on"},
    {.name = "evaluation_fraction", .label = "Evaluation split",
     .member = &Settings::evaluation_fraction, .minimum = 0, .maximum = 0.9,
     .explanation = "Share of the text that is kept for evaluation, taken from its end, and not trained "
                    "on either by a run that never evaluates; 0 trains on all of it"},
    {.name = "shuffle", .label = "Shuffle", .member = &Settings::shuffle,
     .explanation = "Draw the blocks in a new order every epoch, as DistributedSampler does"},
    {.name = "drop_last", .label = "Drop last", .member = &Settings::drop_last,
     .explanation = "Leave out the tail that does not divide evenly by ranks, instead of padding"},
    {.name = "uneven_inputs", .label = "Uneven inputs", .member = choice_member<&Settings::uneven_inputs>(),
     .choices = kUnevenInputs,
     .explanation = "even gives every rank as many sequences; join trains on each once, but for "
                    "what epochs leaves out, and ranks that ran out take part with a gradient of "
                    "zero, as PyTorch's Join"},
    {.name = "dropout", .label = "Dropout", .member = &Settings::dropout, .minimum = 0,
     .maximum = 0.9,
     .explanation = "Probability with which activations are zeroed while training"},
};
// clang-format on

// ---- What is replicated, what is sharded, and how ranks talk to each other

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
    {.name = "device", .label = "Device", .member = choice_member<&Settings::device>(), .essential = true,
     .choices = kDevices,
     .explanation = "Where the ranks compute; auto takes GPUs where there are any and no link is simulated, "
                    "else the CPU; more ranks than GPUs are refused unless they share (oversubscribe)"},
    {.name = "oversubscribe", .label = "Share GPUs", .member = &Settings::oversubscribe,
     .explanation = "Let several ranks share one GPU; correct, but its timings mean nothing",
     .needs_gpu = true},
    {.name = "sharding_strategy", .label = "Strategy", .member = choice_member<&Settings::sharding_strategy>(),
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
     .member = choice_member<&Settings::communication_hook>(), .essential = true, .choices = kHooks,
     .explanation = "Compress gradients to 16 bits for the reduction", .applies_to = kBucketed},
    {.name = "overlap_comm", .label = "Overlap communication", .member = &Settings::overlap_comm,
     .explanation = "Reduce buckets while backward goes on; off reduces after it",
     .applies_to = kBucketed},
    {.name = "communication", .label = "Communication", .member = choice_member<&Settings::communication>(),
     .choices = kOnNone,
     .explanation = "none leaves gradients unreduced: a ceiling for speed whose loss is invalid",
     .applies_to = "ddp"},
    {.name = "shard_group_size", .label = "Shard group", .member = &Settings::shard_group_size,
     .unit = "ranks", .minimum = 2, .maximum = 1024, .may_be_auto = true, .essential = true,
     .explanation = "Ranks that share one set of shards, replicated over the other groups; auto "
                    "is the ranks of one machine",
     .applies_to = kHybrid},
    {.name = "wrap_policy", .label = "Units", .member = choice_member<&Settings::wrap_policy>(), .essential = true,
     .choices = kWrapPolicies,
     .explanation = "What is gathered and reduced as one unit; whole_model gathers everything at once "
                    "and keeps it until backward has ended, with full_shard too",
     .applies_to = kUnits},
    {.name = "min_num_params", .label = "Smallest unit", .member = &Settings::min_num_params,
     .unit = "parameters", .minimum = 1, .maximum = 1e12, .logarithmic = true,
     .explanation = "With wrap_policy size, a module with at least this many parameters that are "
                    "in no unit yet becomes one",
     .applies_to = kUnits, .depends_on = "wrap_policy", .obeyed_with = "size"},
    {.name = "backward_prefetch", .label = "Backward prefetch",
     .member = choice_member<&Settings::backward_prefetch>(), .essential = true, .choices = kPrefetches,
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
     .applies_to = kShardedUnits,
     .needs_gpu = true},
    {.name = "reshard_after_forward", .label = "Free units after forward",
     .member = choice_member<&Settings::reshard_after_forward>(), .choices = kAutoBool,
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
     .explanation = "A collective that takes longer ends the run and names the rank that did not arrive; "
                    "left at 600, a run that this program started also ends once a rank stands still "
                    "for ten steps, at least 10 s"},
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
                    "broadcasts); auto lets it choose by size",
     .needs_gpu = true},
    {.name = "nccl_proto", .label = "NCCL protocol", .member = &Settings::nccl_proto,
     .choices = kNcclProtocols, .choices_are_open = true,
     .accepted = "one of auto, LL, LL128 or Simple, several with commas between, ^ "
                 "before those that are not to be used, or function:list, separated by semicolons",
     .explanation = "NCCL_PROTO on GPUs: LL has the least latency, LL128 wants NVLink, Simple has the "
                    "most bandwidth; auto lets NCCL choose by size",
     .needs_gpu = true},
    {.name = "nccl_min_channels", .label = "NCCL channels, at least",
     .member = &Settings::nccl_min_channels, .unit = "channels", .minimum = 1, .maximum = 64,
     .may_be_auto = true,
     .explanation = "NCCL_MIN_NCHANNELS on GPUs: blocks that every collective takes from computation "
                    "at least",
     .needs_gpu = true},
    {.name = "nccl_max_channels", .label = "NCCL channels, at most",
     .member = &Settings::nccl_max_channels, .unit = "channels", .minimum = 1, .maximum = 64,
     .may_be_auto = true,
     .explanation = "NCCL_MAX_NCHANNELS on GPUs: fewer leave more of the GPU to computation, at less "
                    "bandwidth",
     .needs_gpu = true},
    {.name = "cuda_device_max_connections", .label = "CUDA work queues",
     .member = &Settings::cuda_device_max_connections, .unit = "queues", .minimum = 1,
     .maximum = 32, .may_be_auto = true,
     .explanation = "CUDA_DEVICE_MAX_CONNECTIONS: queues from the host to a GPU; with 1 kernels start "
                    "in the order of their launches, auto is CUDA's 8",
     .needs_gpu = true},
    {.name = "comm_stream_priority", .label = "Priority of communication",
     .member = choice_member<&Settings::comm_stream_priority>(), .choices = kPriorities,
     .explanation = "On GPUs high lets collectives start before waiting blocks of computation; "
                    "auto is normal for buckets, as in DDP, and high for units, as in fully_shard but "
                    "for its all-reduce across groups; FSDP 1's are mostly normal",
     .needs_gpu = true},
};
// clang-format on

// ---- Types of numbers, and what is given up to need less memory

constexpr std::string_view kPrecisions[] = {"fp32", "bf16", "fp16"};
constexpr std::string_view kDataTypes[] = {"auto", "fp32", "bf16", "fp16"};
constexpr std::string_view kBaseTypes[] = {"auto", "fp32", "bf16", "nf4"};
constexpr std::string_view kAllocatorChoices[] = {"auto", "none"};

// clang-format off
constexpr Knob kPrecisionAndMemoryKnobs[] = {
    {.name = "precision", .label = "Precision", .member = choice_member<&Settings::precision>(), .essential = true,
     .choices = kPrecisions,
     .explanation = "bf16 and fp16 compute in 16 bits with parameters and optimizer in fp32 "
                    "(autocast); fp16 scales the loss and needs a GPU"},
    {.name = "param_dtype", .label = "Gathered as", .member = choice_member<&Settings::param_dtype>(),
     .essential = true, .choices = kDataTypes,
     .explanation = "Units are gathered and computed in this type, shards stay fp32; auto is fp32",
     .applies_to = kUnits},
    {.name = "reduce_dtype", .label = "Reduced as", .member = choice_member<&Settings::reduce_dtype>(),
     .essential = true, .choices = kDataTypes,
     .explanation = "Gradients are reduced, and those of micro-batches added up, in this type; auto "
                    "is that of param_dtype",
     .applies_to = kUnits},
    {.name = "buffer_dtype", .label = "Buffers as", .member = choice_member<&Settings::buffer_dtype>(),
     .choices = kDataTypes,
     .explanation = "Floating-point buffers of the model are kept in this type; auto leaves them",
     .applies_to = kUnits},
    {.name = "base_dtype", .label = "Frozen weights as", .member = choice_member<&Settings::base_dtype>(),
     .choices = kBaseTypes,
     .explanation = "How weights that are not trained are kept: nf4 is QLoRA's 4 bits; auto is bf16 "
                    "where adapters are trained in bf16, else fp32"},
    {.name = "initial_loss_scale", .label = "Initial loss scale",
     .member = &Settings::initial_loss_scale, .minimum = 1, .maximum = 4294967296.0,
     .logarithmic = true,
     .explanation = "In fp16, of precision or param_dtype, the loss starts with this factor, halved "
                    "on overflow"},
    {.name = "activation_checkpointing", .label = "Recompute activations",
     .member = &Settings::activation_checkpointing, .unit = "blocks", .minimum = 0, .maximum = 1024,
     .essential = true,
     .explanation = "Every n-th block keeps only its input and computes forward again in backward; "
                    "0 recomputes nothing"},
    {.name = "cpu_offload", .label = "Offload to the CPU", .member = &Settings::cpu_offload,
     .essential = true,
     .explanation = "Shards, their gradients and the optimizer live and step in the host's memory",
     .applies_to = kShardedUnits,
     .needs_gpu = true},
    {.name = "gradient_accumulation_steps", .label = "Accumulation steps",
     .member = &Settings::gradient_accumulation_steps, .unit = "micro-batches", .minimum = 1,
     .maximum = 4096, .essential = true,
     .explanation = "Micro-batches whose gradients are added up before one optimizer step"},
    {.name = "sync_each_batch", .label = "Reduce every micro-batch",
     .member = &Settings::sync_each_batch,
     .explanation = "Reduce gradients after every micro-batch instead of only after the last"},
    {.name = "loss_chunk_tokens", .label = "Loss by chunks of",
     .member = &Settings::loss_chunk_tokens, .unit = "tokens", .minimum = 0, .maximum = kLarge,
     .may_be_auto = true,
     .explanation = "Tokens whose logits exist at a time; 0 is all, auto is all below 32 MiB of "
                    "logits, else at least 1024 and twice the model's width"},
    {.name = "allocator_conf", .label = "GPU allocator", .member = &Settings::allocator_conf,
     .choices = kAllocatorChoices, .choices_are_open = true,
     .accepted = "auto, none, or option:value, separated by commas",
     .explanation = "PYTORCH_ALLOC_CONF on GPUs, as max_split_size_mb:128; auto is "
                    "expandable_segments:True unless the environment says otherwise, none leaves it",
     .needs_gpu = true},
};
// clang-format on

// ---- The optimizer, its learning rate, how long, what is looked at on the way, and what is
// trained

constexpr std::string_view kOptimizers[] = {"adamw", "sgd"};
constexpr std::string_view kLrSchedules[] = {"cosine",
                                             "linear",
                                             "constant",
                                             "constant_with_warmup",
                                             "cosine_with_restarts",
                                             "cosine_with_min_lr",
                                             "polynomial",
                                             "inverse_sqrt",
                                             "warmup_stable_decay"};
constexpr std::string_view kOnNonfinite[] = {"stop", "continue"};
constexpr std::string_view kAutoText[] = {"auto"};
constexpr std::string_view kLoraTargets[] = {"auto", "all-linear"};

// clang-format off
constexpr Knob kOptimizationKnobs[] = {
    {.name = "optimizer", .label = "Optimizer", .member = choice_member<&Settings::optimizer>(),
     .choices = kOptimizers,
     .explanation = "AdamW, or plain SGD without state"},
    {.name = "steps", .label = "Steps", .member = &Settings::steps, .unit = "steps", .minimum = 1,
     .maximum = kLarge, .logarithmic = true, .essential = true,
     .explanation = "Optimizer steps of the run",
     .depends_on = "epochs", .obeyed_with = "0"},
    {.name = "epochs", .label = "Epochs", .member = &Settings::epochs, .minimum = 0,
     .maximum = kLarge,
     .explanation = "Passes over the text instead of a number of steps; 0 uses steps. Micro-batches "
                    "at their end that are too few for a step are left out"},
    {.name = "learning_rate", .label = "Learning rate", .member = &Settings::learning_rate,
     .minimum = 0, .maximum = 10, .logarithmic = true,
     .explanation = "Peak learning rate"},
    {.name = "lr_schedule", .label = "Schedule", .member = choice_member<&Settings::lr_schedule>(),
     .choices = kLrSchedules,
     .explanation = "How the learning rate goes on after the warm-up, by transformers' names"},
    {.name = "warmup_steps", .label = "Warm-up", .member = &Settings::warmup_steps, .unit = "steps",
     .minimum = 0, .maximum = kLarge,
     .explanation = "Steps over which the learning rate rises to its peak, from zero or, with "
                    "warmup_stable_decay, from lr_min_ratio"},
    {.name = "lr_decay_steps", .label = "Decay", .member = &Settings::lr_decay_steps,
     .unit = "steps", .minimum = 1, .maximum = kLarge, .may_be_auto = true,
     .explanation = "Last steps of warmup_stable_decay, over which the rate falls; auto is a tenth of "
                    "all",
     .depends_on = "lr_schedule", .obeyed_with = "warmup_stable_decay"},
    {.name = "lr_min_ratio", .label = "Lowest learning rate", .member = &Settings::lr_min_ratio,
     .minimum = 0, .maximum = 1, .may_be_auto = true,
     .explanation = "Share of the peak at which cosine_with_min_lr, polynomial and warmup_stable_decay "
                    "end; auto is 0.1, the share that makes a rate of 1e-7, and 0",
     .depends_on = "lr_schedule",
     .obeyed_with = "cosine_with_min_lr, polynomial, warmup_stable_decay"},
    {.name = "lr_cycles", .label = "Cycles", .member = &Settings::lr_cycles, .minimum = 0.01,
     .maximum = 1000, .may_be_auto = true,
     .explanation = "Waves of the cosine schedules and of warmup_stable_decay's fall; auto is half a wave, "
                    "and with restarts one",
     .depends_on = "lr_schedule",
     .obeyed_with = "cosine, cosine_with_restarts, cosine_with_min_lr, warmup_stable_decay"},
    {.name = "lr_power", .label = "Power", .member = &Settings::lr_power, .minimum = 0.01,
     .maximum = 100,
     .explanation = "Exponent of the polynomial schedule",
     .depends_on = "lr_schedule", .obeyed_with = "polynomial"},
    {.name = "weight_decay", .label = "Weight decay", .member = &Settings::weight_decay,
     .minimum = 0, .maximum = 10,
     .explanation = "Weight decay, decoupled with AdamW; biases and norms have none"},
    {.name = "adam_beta1", .label = "Adam beta 1", .member = &Settings::adam_beta1, .minimum = 0,
     .maximum = 0.999999,
     .explanation = "Decay of AdamW's first moment",
     .depends_on = "optimizer", .obeyed_with = "adamw"},
    {.name = "adam_beta2", .label = "Adam beta 2", .member = &Settings::adam_beta2, .minimum = 0,
     .maximum = 0.999999,
     .explanation = "Decay of AdamW's second moment",
     .depends_on = "optimizer", .obeyed_with = "adamw"},
    {.name = "adam_epsilon", .label = "Adam epsilon", .member = &Settings::adam_epsilon,
     .minimum = 0, .maximum = 1,
     .explanation = "Added to AdamW's denominator",
     .depends_on = "optimizer", .obeyed_with = "adamw"},
    {.name = "max_grad_norm", .label = "Clip gradient norm", .member = &Settings::max_grad_norm,
     .minimum = 0, .maximum = kLarge,
     .explanation = "Gradients are scaled down to this total norm; 0 does not clip"},
    {.name = "on_nonfinite", .label = "On NaN or infinity", .member = choice_member<&Settings::on_nonfinite>(),
     .choices = kOnNonfinite,
     .explanation = "Whether a loss or gradient norm that is not finite ends the run"},
    {.name = "loss_every", .label = "Read the loss every", .member = &Settings::loss_every,
     .unit = "steps", .minimum = 1, .maximum = kLarge,
     .explanation = "Steps between reading loss, gradient norm and requests to stop, for which a GPU "
                    "is waited for; they are read before an evaluation or a checkpoint, too, and else not known"},
    {.name = "evaluate_every", .label = "Evaluate every", .member = &Settings::evaluate_every,
     .unit = "steps", .minimum = 0, .maximum = kLarge,
     .explanation = "Steps between evaluations on the held-out text; 0 never evaluates"},
    {.name = "evaluation_batches", .label = "Batches of an evaluation",
     .member = &Settings::evaluation_batches, .unit = "batches", .minimum = 0, .maximum = kLarge,
     .explanation = "Batches per rank of one evaluation at most, so that more ranks or larger batches see "
                    "more text; 0 takes all held-out text"},
    {.name = "sample_tokens", .label = "Sample", .member = &Settings::sample_tokens,
     .unit = "tokens", .minimum = 0, .maximum = 4096,
     .explanation = "Tokens that the model writes into the log at every evaluation; 0 writes none"},
    {.name = "sample_prompt", .label = "Sample's prompt", .member = &Settings::sample_prompt,
     .choices = kAutoText, .choices_are_open = true,
     .explanation = "What the model's sample goes on from; auto is the beginning of held-out text"},
    {.name = "sample_temperature", .label = "Sample's temperature",
     .member = &Settings::sample_temperature, .minimum = 0, .maximum = 10,
     .explanation = "0 always takes the most probable token; 1 draws by the model's probabilities"},
    {.name = "frozen_blocks", .label = "Frozen blocks", .member = &Settings::frozen_blocks,
     .unit = "blocks", .minimum = 0, .maximum = 1024,
     .explanation = "The first blocks of the model that are not trained"},
    {.name = "lora_rank", .label = "LoRA rank", .member = &Settings::lora_rank, .minimum = 0,
     .maximum = 4096, .essential = true,
     .explanation = "Trains low-rank adapters of this rank (and a classifier's head) beside frozen weights; 0 trains "
                    "all weights"},
    {.name = "lora_alpha", .label = "LoRA alpha", .member = &Settings::lora_alpha, .minimum = 0.001,
     .maximum = 65536,
     .explanation = "Adapters count alpha divided by rank",
     .depends_on = "lora_rank", .obeyed_unless = "0"},
    {.name = "lora_dropout", .label = "LoRA dropout", .member = &Settings::lora_dropout,
     .minimum = 0, .maximum = 0.9,
     .explanation = "Probability with which an adapter's inputs are zeroed while training",
     .depends_on = "lora_rank", .obeyed_unless = "0"},
    {.name = "lora_target_modules", .label = "LoRA's targets",
     .member = &Settings::lora_target_modules, .choices = kLoraTargets, .choices_are_open = true,
     .explanation = "Names of the layers that get adapters, as q_proj,v_proj; auto is peft's choice for "
                    "the model, all-linear all but the output matrix",
     .depends_on = "lora_rank", .obeyed_unless = "0"},
    {.name = "seed", .label = "Seed", .member = &Settings::seed, .minimum = 0, .maximum = kLarge,
     .explanation = "Seed of initial weights, shuffling and dropout"},
};
// clang-format on

// ---- What of a run is kept to go on from, or to use

constexpr std::string_view kCheckpointFormats[] = {"full", "sharded"};
constexpr std::string_view kNone[] = {"none"};
constexpr std::string_view kSaveModel[] = {"auto", "none", "end", "best"};

// clang-format off
constexpr Knob kCheckpointKnobs[] = {
    {.name = "save_every", .label = "Save every", .member = &Settings::save_every, .unit = "steps",
     .minimum = 0, .maximum = kLarge,
     .explanation = "Steps between checkpoints; 0 saves none"},
    {.name = "keep_checkpoints", .label = "Keep the last", .member = &Settings::keep_checkpoints,
     .unit = "checkpoints", .minimum = 0, .maximum = kLarge,
     .explanation = "Older checkpoints are deleted once a new one stands; 0 keeps all"},
    {.name = "checkpoint_format", .label = "Checkpoint format",
     .member = choice_member<&Settings::checkpoint_format>(), .choices = kCheckpointFormats,
     .explanation = "full is one file of weights and one of optimizer state; sharded is two per rank that keeps a "
                    "part of them"},
    {.name = "checkpoint_on_stop", .label = "Save when stopped",
     .member = &Settings::checkpoint_on_stop,
     .explanation = "A run that is stopped, or gets SIGTERM, saves a checkpoint before it leaves"},
    {.name = "resume", .label = "Resume from", .member = &Settings::resume, .choices = kNone,
     .choices_are_open = true,
     .accepted = "none, or the folder of a checkpoint or of a run",
     .explanation = "A checkpoint's folder, or a run's (on the command line also its name or number), to go on from with any "
                    "strategy and ranks"},
    {.name = "keep_best", .label = "Keep the best", .member = &Settings::keep_best,
     .explanation = "A checkpoint after each evaluation with the lowest loss so far, kept in the run's folder "
                    "best_checkpoint"},
    {.name = "save_model", .label = "Save the model", .member = choice_member<&Settings::save_model>(),
     .choices = kSaveModel,
     .explanation = "A Hugging Face folder in the run's: at the end, or at the best evaluation; auto is "
                    "end for models that came from a folder or have adapters. Runs of sweeps and "
                    "searches are only measured and save nothing"},
    {.name = "merge_lora", .label = "Merge adapters", .member = &Settings::merge_lora,
     .explanation = "The saved model has the adapters added to its weights instead of beside them"},
};
// clang-format on

// ---- What of a run is recorded, and what figures leave out

constexpr std::string_view kRecord[] = {"every step", "none"};
constexpr std::string_view kRecordAllocations[] = {"off", "step 4", "every 10th"};

// clang-format off
constexpr Knob kRecordingKnobs[] = {
    {.name = "record", .label = "Record", .member = &Settings::record, .essential = true,
     .choices = kRecord, .choices_are_open = true,
     .accepted = "every step, steps A..B, every Nth, or none",
     .explanation = "Which steps get full detail: every step, steps 10..20, every 10th, or none; steps, "
                    "phases and memory are always recorded"},
    {.name = "record_allocations", .label = "Record allocations",
     .member = &Settings::record_allocations, .choices = kRecordAllocations,
     .choices_are_open = true,
     .accepted = "off, step N, steps A..B, or every Nth",
     .explanation = "Steps whose single allocations are kept, unless record is none: off, step 4, "
                    "steps 4..6, or every 10th"},
    {.name = "record_limit_mb", .label = "Size limit", .member = &Settings::record_limit_mb,
     .unit = "MiB", .minimum = 1, .maximum = 1e7, .logarithmic = true,
     .explanation = "Recording of detail stops when a rank's file reaches this size"},
    {.name = "skip_steps", .label = "Left out of the summary", .member = &Settings::skip_steps,
     .unit = "steps", .minimum = 0, .maximum = kLarge,
     .explanation = "First steps that the summary does not measure"},
    {.name = "peak_tflops", .label = "Peak of a GPU", .member = &Settings::peak_tflops,
     .unit = "TFLOP/s", .minimum = 0.001, .maximum = 1e6, .may_be_auto = true, .logarithmic = true,
     .explanation = "What MFU is measured against; auto is the data sheet's dense peak for the GPU "
                    "and the precision, if it is known"},
};
// clang-format on

// ---- Links and faults on purpose

constexpr std::string_view kOff[] = {"off"};
// Networks of 1, 10 and 100 Gbit/s: with the first, communication of a small model takes long
// enough that its overlap is seen without a GPU.
constexpr std::string_view kLinks[] = {"off", "latency_us=100,gbit_per_s=1",
                                       "latency_us=50,gbit_per_s=10",
                                       "latency_us=5,gbit_per_s=100"};

// clang-format off
constexpr Knob kSimulationKnobs[] = {
    {.name = "simulate_link", .label = "Simulated link", .member = &Settings::simulate_link,
     .essential = true, .choices = kLinks, .choices_are_open = true,
     .accepted = "off, or latency_us=50,gbit_per_s=10, and nodes=2 where it lies between machines",
     .explanation = "A collective of n ranks and S bytes ends no earlier than latency_us + 8 · S · f ÷ gbit_per_s "
                    "after its last rank started it (runs on a CPU only; predictions of runs on GPUs, too): f is "
                    "2(n−1)/n for all-reduce, (n−1)/n for all-gather, reduce-scatter and all-to-all, else 1; "
                    "8 Gbit/s are 1 GB/s. With nodes=2 ranks are divided among as many machines, each with one such "
                    "link: a group within one does not pass it, and groups that pass it at once share it"},
    {.name = "inject", .label = "Injected fault", .member = &Settings::inject, .choices = kOff,
     .choices_are_open = true,
     .accepted = "off, or rank=1,step=5,phase=backward and one of delay_ms=100, nan, oom, hang, exit, "
                 "skip_collective or unequal_size, with every=1 from that step on; several separated by ;",
     .explanation = "A fault on purpose in one step, or with every=1 from it on, in phase data, forward, "
                    "backward or optimizer: a rank comes late (delay_ms), hangs, exits or runs out of "
                    "memory (oom), its loss is nan, it leaves one collective out or enters one with an "
                    "unequal_size"},
};
// clang-format on

struct GroupOfKnobs {
  std::string_view heading;
  std::span<const Knob> rows;  // leave out the group
};

// By KnobGroup.
constexpr std::array<GroupOfKnobs, kKnobGroupCount> kGroups{{
    {"Model and data", kModelAndDataKnobs},
    {"Parallelism", kParallelismKnobs},
    {"Precision and memory", kPrecisionAndMemoryKnobs},
    {"Optimization", kOptimizationKnobs},
    {"Checkpoints", kCheckpointKnobs},
    {"Recording", kRecordingKnobs},
    {"Simulation", kSimulationKnobs},
}};

std::vector<Knob> rows_of_all_groups() {
  std::vector<Knob> table;
  for (std::size_t group = 0; group < kGroups.size(); ++group) {
    for (Knob knob : kGroups[group].rows) {
      knob.group = static_cast<KnobGroup>(group);
      table.push_back(knob);
    }
  }
  return table;
}

}  // namespace

std::span<const Knob> knobs() {
  static const std::vector<Knob> kTable = rows_of_all_groups();
  return kTable;
}

std::string_view to_string(KnobGroup group) {
  return kGroups[static_cast<std::size_t>(group)].heading;
}

}  // namespace shardlens::trace::job
