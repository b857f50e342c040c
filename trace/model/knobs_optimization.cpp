// The optimizer, its learning rate, how long, what is looked at on the way, and what is trained.
#include "trace/model/knob_groups.h"

namespace shardlens::trace {

namespace {

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
    {.name = "optimizer", .label = "Optimizer", .member = &Settings::optimizer,
     .choices = kOptimizers,
     .explanation = "AdamW, or plain SGD without state"},
    {.name = "steps", .label = "Steps", .member = &Settings::steps, .unit = "steps", .minimum = 1,
     .maximum = kLarge, .logarithmic = true, .essential = true,
     .explanation = "Optimizer steps of the run"},
    {.name = "epochs", .label = "Epochs", .member = &Settings::epochs, .minimum = 0,
     .maximum = kLarge,
     .explanation = "Passes over the text instead of a number of steps; 0 uses steps"},
    {.name = "learning_rate", .label = "Learning rate", .member = &Settings::learning_rate,
     .minimum = 0, .maximum = 10, .logarithmic = true,
     .explanation = "Peak learning rate"},
    {.name = "lr_schedule", .label = "Schedule", .member = &Settings::lr_schedule,
     .choices = kLrSchedules,
     .explanation = "How the learning rate goes on after the warm-up, by transformers' names"},
    {.name = "warmup_steps", .label = "Warm-up", .member = &Settings::warmup_steps, .unit = "steps",
     .minimum = 0, .maximum = kLarge,
     .explanation = "Steps over which the learning rate rises from zero to its peak"},
    {.name = "lr_decay_steps", .label = "Decay", .member = &Settings::lr_decay_steps,
     .unit = "steps", .minimum = 1, .maximum = kLarge, .may_be_auto = true,
     .explanation = "Last steps of warmup_stable_decay, over which the rate falls; auto is a tenth of "
                    "all"},
    {.name = "lr_min_ratio", .label = "Lowest learning rate", .member = &Settings::lr_min_ratio,
     .minimum = 0, .maximum = 1, .may_be_auto = true,
     .explanation = "Share of the peak at which cosine_with_min_lr, polynomial and warmup_stable_decay "
                    "end; auto is 0.1, 1e-7 and 0"},
    {.name = "lr_cycles", .label = "Cycles", .member = &Settings::lr_cycles, .minimum = 0.01,
     .maximum = 1000, .may_be_auto = true,
     .explanation = "Waves of the cosine schedules; auto is half a wave, and with restarts one"},
    {.name = "lr_power", .label = "Power", .member = &Settings::lr_power, .minimum = 0.01,
     .maximum = 100,
     .explanation = "Exponent of the polynomial schedule"},
    {.name = "weight_decay", .label = "Weight decay", .member = &Settings::weight_decay,
     .minimum = 0, .maximum = 10,
     .explanation = "Weight decay, decoupled with AdamW; biases and norms have none"},
    {.name = "adam_beta1", .label = "Adam beta 1", .member = &Settings::adam_beta1, .minimum = 0,
     .maximum = 0.999999,
     .explanation = "Decay of AdamW's first moment"},
    {.name = "adam_beta2", .label = "Adam beta 2", .member = &Settings::adam_beta2, .minimum = 0,
     .maximum = 0.999999,
     .explanation = "Decay of AdamW's second moment"},
    {.name = "adam_epsilon", .label = "Adam epsilon", .member = &Settings::adam_epsilon,
     .minimum = 0, .maximum = 1,
     .explanation = "Added to AdamW's denominator"},
    {.name = "max_grad_norm", .label = "Clip gradient norm", .member = &Settings::max_grad_norm,
     .minimum = 0, .maximum = kLarge,
     .explanation = "Gradients are scaled down to this total norm; 0 does not clip"},
    {.name = "on_nonfinite", .label = "On NaN or infinity", .member = &Settings::on_nonfinite,
     .choices = kOnNonfinite,
     .explanation = "Whether a loss or gradient norm that is not finite ends the run"},
    {.name = "loss_every", .label = "Read the loss every", .member = &Settings::loss_every,
     .unit = "steps", .minimum = 1, .maximum = kLarge,
     .explanation = "Steps between reading loss, gradient norm and requests to stop, for which a GPU "
                    "is waited for; between them they are not known"},
    {.name = "evaluate_every", .label = "Evaluate every", .member = &Settings::evaluate_every,
     .unit = "steps", .minimum = 0, .maximum = kLarge,
     .explanation = "Steps between evaluations on the held-out text; 0 never evaluates"},
    {.name = "evaluation_batches", .label = "Batches of an evaluation",
     .member = &Settings::evaluation_batches, .unit = "batches", .minimum = 0, .maximum = kLarge,
     .explanation = "Batches per rank of one evaluation at most; 0 takes all held-out text"},
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
     .explanation = "Trains low-rank adapters of this rank beside frozen weights; 0 trains all weights"},
    {.name = "lora_alpha", .label = "LoRA alpha", .member = &Settings::lora_alpha, .minimum = 0.001,
     .maximum = 65536,
     .explanation = "Adapters count alpha divided by rank"},
    {.name = "lora_dropout", .label = "LoRA dropout", .member = &Settings::lora_dropout,
     .minimum = 0, .maximum = 0.9,
     .explanation = "Probability with which an adapter's inputs are zeroed while training"},
    {.name = "lora_target_modules", .label = "LoRA's targets",
     .member = &Settings::lora_target_modules, .choices = kLoraTargets, .choices_are_open = true,
     .explanation = "Names of the layers that get adapters, as q_proj,v_proj; auto is peft's choice for "
                    "the model, all-linear all but the output matrix"},
    {.name = "seed", .label = "Seed", .member = &Settings::seed, .minimum = 0, .maximum = kLarge,
     .explanation = "Seed of initial weights, shuffling and dropout"},
};
// clang-format on

}  // namespace

std::span<const Knob> optimization_knobs() { return kOptimizationKnobs; }

}  // namespace shardlens::trace
