// Types of numbers, and what is given up to need less memory.
#include "trace/model/knob_groups.h"

namespace shardlens::trace {

namespace {

constexpr std::string_view kPrecisions[] = {"fp32", "bf16", "fp16"};
constexpr std::string_view kDataTypes[] = {"auto", "fp32", "bf16", "fp16"};
constexpr std::string_view kBaseTypes[] = {"auto", "fp32", "bf16", "nf4"};
constexpr std::string_view kAllocatorChoices[] = {"auto", "none"};

// clang-format off
constexpr Knob kPrecisionAndMemoryKnobs[] = {
    {.name = "precision", .label = "Precision", .member = &Settings::precision, .essential = true,
     .choices = kPrecisions,
     .explanation = "bf16 and fp16 compute in 16 bits with parameters and optimizer in fp32 "
                    "(autocast); fp16 scales the loss and needs a GPU"},
    {.name = "param_dtype", .label = "Gathered as", .member = &Settings::param_dtype,
     .essential = true, .choices = kDataTypes,
     .explanation = "Units are gathered and computed in this type, shards stay fp32; auto is fp32",
     .applies_to = kUnits},
    {.name = "reduce_dtype", .label = "Reduced as", .member = &Settings::reduce_dtype,
     .essential = true, .choices = kDataTypes,
     .explanation = "Gradients are reduced in this type; auto is that of the parameters",
     .applies_to = kUnits},
    {.name = "buffer_dtype", .label = "Buffers as", .member = &Settings::buffer_dtype,
     .choices = kDataTypes,
     .explanation = "Floating-point buffers of the model are kept in this type; auto leaves them",
     .applies_to = kUnits},
    {.name = "base_dtype", .label = "Frozen weights as", .member = &Settings::base_dtype,
     .choices = kBaseTypes,
     .explanation = "How weights that are not trained are kept: nf4 is QLoRA's 4 bits; auto is bf16 "
                    "where adapters are trained in bf16, else fp32"},
    {.name = "initial_loss_scale", .label = "Initial loss scale",
     .member = &Settings::initial_loss_scale, .minimum = 1, .maximum = 4294967296.0,
     .logarithmic = true,
     .explanation = "With precision fp16 the loss starts with this factor, halved on overflow"},
    {.name = "activation_checkpointing", .label = "Recompute activations",
     .member = &Settings::activation_checkpointing, .unit = "blocks", .minimum = 0, .maximum = 1024,
     .essential = true,
     .explanation = "Every n-th block keeps only its input and computes forward again in backward; "
                    "0 recomputes nothing"},
    {.name = "cpu_offload", .label = "Offload to the CPU", .member = &Settings::cpu_offload,
     .essential = true,
     .explanation = "Shards, their gradients and the optimizer live and step in the host's memory",
     .applies_to = kShardedUnits},
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
                    "expandable_segments:True unless the environment says otherwise, none leaves it"},
};
// clang-format on

}  // namespace

std::span<const Knob> precision_and_memory_knobs() { return kPrecisionAndMemoryKnobs; }

}  // namespace shardlens::trace
