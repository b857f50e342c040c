// The table of all knobs. To add one: a member of Settings, a row here, and the code that obeys it.
#include <array>

#include "trace/model/settings.h"

namespace shardlens::trace {

namespace {

using Choice = std::string_view;
constexpr std::array<Choice, 7> kModels{"tiny",       "small",   "gpt2",    "gpt2-medium",
                                        "gpt2-large", "gpt2-xl", "llama-1b"};
constexpr std::array<Choice, 1> kData{"builtin"};
constexpr std::array<Choice, 3> kDevices{"auto", "cpu", "cuda"};
constexpr std::array<Choice, 1> kStrategies{"ddp"};
constexpr std::array<Choice, 3> kHooks{"none", "fp16_compress", "bf16_compress"};
constexpr std::array<Choice, 2> kOnNone{"on", "none"};
constexpr std::array<Choice, 2> kPrecisions{"fp32", "bf16"};
constexpr std::array<Choice, 3> kLrSchedules{"cosine", "linear", "constant"};
constexpr std::array<Choice, 2> kOnNonfinite{"stop", "continue"};
constexpr std::array<Choice, 1> kRecord{"every step"};
constexpr std::array<Choice, 1> kOff{"off"};

constexpr double kLarge = 1e9;

using G = KnobGroup;
using S = Settings;

// clang-format off
const Knob kTable[] = {
    // ---- model and data
    {.name = "model", .label = "Model", .group = G::kModelAndData, .member = &S::model,
     .essential = true, .choices = kModels,
     .explanation = "Which decoder language model is trained, initialised from the seed"},
    {.name = "data", .label = "Text", .group = G::kModelAndData, .member = &S::data,
     .essential = true, .choices = kData, .choices_are_open = true,
     .explanation = "A text file or a folder of text files; builtin is the project's own text"},
    {.name = "batch_per_rank", .label = "Batch per rank", .group = G::kModelAndData,
     .member = &S::batch_per_rank, .unit = "sequences", .minimum = 1, .maximum = 65536,
     .logarithmic = true, .essential = true,
     .explanation = "Sequences that each rank processes in one micro-batch"},
    {.name = "sequence_length", .label = "Sequence length", .group = G::kModelAndData,
     .member = &S::sequence_length, .unit = "tokens", .minimum = 2, .maximum = 131072,
     .logarithmic = true, .essential = true,
     .explanation = "Tokens per sequence"},
    {.name = "evaluation_fraction", .label = "Evaluation split", .group = G::kModelAndData,
     .member = &S::evaluation_fraction, .minimum = 0, .maximum = 0.9,
     .explanation = "Share of the text that is kept for evaluation, taken from its end"},
    {.name = "shuffle", .label = "Shuffle", .group = G::kModelAndData, .member = &S::shuffle,
     .explanation = "Draw the blocks in a new order every epoch, as DistributedSampler does"},
    {.name = "drop_last", .label = "Drop last", .group = G::kModelAndData,
     .member = &S::drop_last,
     .explanation = "Leave out the tail that does not divide evenly by ranks, instead of padding"},
    {.name = "dropout", .label = "Dropout", .group = G::kModelAndData, .member = &S::dropout,
     .minimum = 0, .maximum = 0.9,
     .explanation = "Probability with which activations are zeroed while training"},

    // ---- parallelism
    {.name = "ranks", .label = "Ranks", .group = G::kParallelism, .member = &S::ranks,
     .minimum = 1, .maximum = 1024, .essential = true,
     .explanation = "Processes that train together, one per GPU"},
    {.name = "device", .label = "Device", .group = G::kParallelism, .member = &S::device,
     .essential = true, .choices = kDevices,
     .explanation = "Where the ranks compute; auto takes GPUs if there are enough"},
    {.name = "oversubscribe", .label = "Share GPUs", .group = G::kParallelism,
     .member = &S::oversubscribe,
     .explanation = "Let several ranks share one GPU; correct, but its timings mean nothing"},
    {.name = "sharding_strategy", .label = "Strategy", .group = G::kParallelism,
     .member = &S::sharding_strategy, .essential = true, .choices = kStrategies,
     .explanation = "What is replicated and what is sharded over the ranks"},
    {.name = "bucket_cap_mb", .label = "Bucket cap", .group = G::kParallelism,
     .member = &S::bucket_cap_mb, .unit = "MiB", .minimum = 0.01, .maximum = 4096,
     .logarithmic = true, .essential = true,
     .explanation = "A bucket of gradients is reduced once its size reaches this cap",
     .applies_to = "ddp"},
    {.name = "first_bucket_mb", .label = "First bucket", .group = G::kParallelism,
     .member = &S::first_bucket_mb, .unit = "MiB", .minimum = 0.01, .maximum = 4096,
     .may_be_auto = true, .logarithmic = true, .essential = true,
     .explanation = "Cap of the first bucket; auto is 1 MiB if the cap is 25, else the cap; set 25 "
                    "too where PyTorch is given bucket_cap_mb=25, which has no small first bucket",
     .applies_to = "ddp"},
    {.name = "gradient_as_bucket_view", .label = "Gradients are bucket views",
     .group = G::kParallelism, .member = &S::gradient_as_bucket_view, .essential = true,
     .explanation = "Gradients live inside the buckets, which saves one copy of all gradients",
     .applies_to = "ddp"},
    {.name = "static_graph", .label = "Static graph", .group = G::kParallelism,
     .member = &S::static_graph, .essential = true,
     .explanation = "Promise that the graph never changes; the first step reduces after backward",
     .applies_to = "ddp"},
    {.name = "find_unused_parameters", .label = "Find unused parameters",
     .group = G::kParallelism, .member = &S::find_unused_parameters,
     .explanation = "Walk the graph every step for parameters without gradient; no rebuild of buckets",
     .applies_to = "ddp"},
    {.name = "communication_hook", .label = "Communication hook", .group = G::kParallelism,
     .member = &S::communication_hook, .essential = true, .choices = kHooks,
     .explanation = "Compress gradients to 16 bits for the reduction", .applies_to = "ddp"},
    {.name = "overlap_comm", .label = "Overlap communication", .group = G::kParallelism,
     .member = &S::overlap_comm,
     .explanation = "Reduce buckets while backward goes on; off reduces after it",
     .applies_to = "ddp"},
    {.name = "communication", .label = "Communication", .group = G::kParallelism,
     .member = &S::communication, .choices = kOnNone,
     .explanation = "none leaves gradients unreduced: a ceiling for speed whose loss is invalid",
     .applies_to = "ddp"},
    {.name = "collective_timeout_s", .label = "Collective timeout", .group = G::kParallelism,
     .member = &S::collective_timeout_s, .unit = "s", .minimum = 1, .maximum = 86400,
     .logarithmic = true,
     .explanation = "A collective that takes longer ends the run and names the rank that did not arrive"},
    {.name = "threads_per_rank", .label = "Threads per rank", .group = G::kParallelism,
     .member = &S::threads_per_rank, .unit = "threads", .minimum = 1, .maximum = 1024,
     .may_be_auto = true,
     .explanation = "CPU threads of each rank; auto is cores divided by ranks"},

    // ---- precision and memory
    {.name = "precision", .label = "Precision", .group = G::kPrecisionAndMemory,
     .member = &S::precision, .essential = true, .choices = kPrecisions,
     .explanation = "bf16 computes in bfloat16 with parameters and optimizer in fp32 (autocast)"},
    {.name = "gradient_accumulation_steps", .label = "Accumulation steps",
     .group = G::kPrecisionAndMemory, .member = &S::gradient_accumulation_steps,
     .unit = "micro-batches", .minimum = 1, .maximum = 4096, .essential = true,
     .explanation = "Micro-batches whose gradients are added up before one optimizer step"},
    {.name = "sync_each_batch", .label = "Reduce every micro-batch",
     .group = G::kPrecisionAndMemory, .member = &S::sync_each_batch,
     .explanation = "Reduce gradients after every micro-batch instead of only after the last"},

    // ---- optimization
    {.name = "steps", .label = "Steps", .group = G::kOptimization, .member = &S::steps,
     .unit = "steps", .minimum = 1, .maximum = kLarge, .logarithmic = true, .essential = true,
     .explanation = "Optimizer steps of the run"},
    {.name = "epochs", .label = "Epochs", .group = G::kOptimization, .member = &S::epochs,
     .minimum = 0, .maximum = kLarge,
     .explanation = "Passes over the text instead of a number of steps; 0 uses steps"},
    {.name = "learning_rate", .label = "Learning rate", .group = G::kOptimization,
     .member = &S::learning_rate, .minimum = 0, .maximum = 10, .logarithmic = true,
     .explanation = "Peak learning rate of AdamW"},
    {.name = "lr_schedule", .label = "Schedule", .group = G::kOptimization,
     .member = &S::lr_schedule, .choices = kLrSchedules,
     .explanation = "How the learning rate decays to zero after the warm-up"},
    {.name = "warmup_steps", .label = "Warm-up", .group = G::kOptimization,
     .member = &S::warmup_steps, .unit = "steps", .minimum = 0, .maximum = kLarge,
     .explanation = "Steps over which the learning rate rises from zero to its peak"},
    {.name = "weight_decay", .label = "Weight decay", .group = G::kOptimization,
     .member = &S::weight_decay, .minimum = 0, .maximum = 10,
     .explanation = "Decoupled weight decay of AdamW; biases and norms have none"},
    {.name = "adam_beta1", .label = "Adam beta 1", .group = G::kOptimization,
     .member = &S::adam_beta1, .minimum = 0, .maximum = 0.999999,
     .explanation = "Decay of AdamW's first moment"},
    {.name = "adam_beta2", .label = "Adam beta 2", .group = G::kOptimization,
     .member = &S::adam_beta2, .minimum = 0, .maximum = 0.999999,
     .explanation = "Decay of AdamW's second moment"},
    {.name = "adam_epsilon", .label = "Adam epsilon", .group = G::kOptimization,
     .member = &S::adam_epsilon, .minimum = 0, .maximum = 1,
     .explanation = "Added to AdamW's denominator"},
    {.name = "max_grad_norm", .label = "Clip gradient norm", .group = G::kOptimization,
     .member = &S::max_grad_norm, .minimum = 0, .maximum = kLarge,
     .explanation = "Gradients are scaled down to this total norm; 0 does not clip"},
    {.name = "on_nonfinite", .label = "On NaN or infinity", .group = G::kOptimization,
     .member = &S::on_nonfinite, .choices = kOnNonfinite,
     .explanation = "Whether a loss or gradient norm that is not finite ends the run"},
    {.name = "evaluate_every", .label = "Evaluate every", .group = G::kOptimization,
     .member = &S::evaluate_every, .unit = "steps", .minimum = 0, .maximum = kLarge,
     .explanation = "Steps between evaluations on the held-out text; 0 never evaluates"},
    {.name = "seed", .label = "Seed", .group = G::kOptimization, .member = &S::seed,
     .minimum = 0, .maximum = kLarge,
     .explanation = "Seed of initial weights, shuffling and dropout"},

    // ---- recording
    {.name = "record", .label = "Record", .group = G::kRecording, .member = &S::record,
     .essential = true, .choices = kRecord, .choices_are_open = true,
     .explanation = "Which steps get full detail: every step, steps 10..20, or every 10th"},
    {.name = "record_limit_mb", .label = "Size limit", .group = G::kRecording,
     .member = &S::record_limit_mb, .unit = "MiB", .minimum = 1, .maximum = 1e7,
     .logarithmic = true,
     .explanation = "Recording of detail stops when a rank's file reaches this size"},
    {.name = "skip_steps", .label = "Left out of the summary", .group = G::kRecording,
     .member = &S::skip_steps, .unit = "steps", .minimum = 0, .maximum = kLarge,
     .explanation = "First steps that the summary does not measure"},

    // ---- simulation
    {.name = "simulate_link", .label = "Simulated link", .group = G::kSimulation,
     .member = &S::simulate_link, .choices = kOff, .choices_are_open = true,
     .explanation = "Collectives finish no earlier than on a link of latency_us=…,gbps=… (CPU only)"},
    {.name = "inject", .label = "Injected fault", .group = G::kSimulation, .member = &S::inject,
     .choices = kOff, .choices_are_open = true,
     .explanation = "A fault on purpose: rank=1,step=5,phase=backward and delay_ms=…, nan, oom, hang or exit"},
};
// clang-format on

}  // namespace

std::span<const Knob> knobs() { return kTable; }

std::string_view to_string(KnobGroup group) {
  switch (group) {
    case G::kModelAndData:
      return "Model and data";
    case G::kParallelism:
      return "Parallelism";
    case G::kPrecisionAndMemory:
      return "Precision and memory";
    case G::kOptimization:
      return "Optimization";
    case G::kRecording:
      return "Recording";
    case G::kSimulation:
      return "Simulation";
  }
  return "";
}

}  // namespace shardlens::trace
