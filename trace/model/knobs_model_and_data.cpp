// What is trained, and on what.
#include "trace/model/knob_groups.h"

namespace shardlens::trace {

namespace {

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
                    "messages, or text and label; builtin is the project's own text"},
    {.name = "tokenizer", .label = "Tokenizer", .member = &Settings::tokenizer,
     .choices = kTokenizers, .choices_are_open = true,
     .explanation = "auto is the model folder's own, bytes for presets; or a folder with tokenizer.json, "
                    "or with vocab.json and merges.txt"},
    {.name = "evaluation_data", .label = "Evaluation text", .member = &Settings::evaluation_data,
     .choices = kSplit, .choices_are_open = true,
     .explanation = "A file or folder to evaluate on, of the same form; split keeps a share of the text"},
    {.name = "batch_per_rank", .label = "Batch per rank", .member = &Settings::batch_per_rank,
     .unit = "sequences", .minimum = 1, .maximum = 65536, .logarithmic = true, .essential = true,
     .explanation = "Sequences that each rank processes in one micro-batch"},
    {.name = "sequence_length", .label = "Sequence length", .member = &Settings::sequence_length,
     .unit = "tokens", .minimum = 2, .maximum = 131072, .logarithmic = true, .essential = true,
     .explanation = "Tokens per sequence"},
    {.name = "packing", .label = "Pack sequences", .member = &Settings::packing,
     .choices = kAutoBool,
     .explanation = "Put documents one after another and cut them into full sequences; false pads each "
                    "to the longest of its batch and cuts longer ones; auto packs plain text"},
    {.name = "completion_only_loss", .label = "Learn completions only",
     .member = &Settings::completion_only_loss,
     .explanation = "Prompts, system and user messages are read but left out of the loss"},
    {.name = "num_labels", .label = "Classes", .member = &Settings::num_labels, .unit = "classes",
     .minimum = 1, .maximum = 65536, .may_be_auto = true,
     .explanation = "Classes that a classifier tells apart; auto is the model folder's number"},
    {.name = "on_bad_lines", .label = "On bad lines", .member = &Settings::on_bad_lines,
     .choices = kOnBadLines,
     .explanation = "Whether a line of JSON Lines that cannot be used ends the run or is counted and "
                    "left out"},
    {.name = "token_cache", .label = "Token cache", .member = &Settings::token_cache,
     .choices = kAutoOff, .choices_are_open = true,
     .explanation = "Folder that keeps tokenized texts for the next run and may be emptied at any time; "
                    "auto keeps larger ones in the user's cache folder"},
    {.name = "evaluation_fraction", .label = "Evaluation split",
     .member = &Settings::evaluation_fraction, .minimum = 0, .maximum = 0.9,
     .explanation = "Share of the text that is kept for evaluation, taken from its end"},
    {.name = "shuffle", .label = "Shuffle", .member = &Settings::shuffle,
     .explanation = "Draw the blocks in a new order every epoch, as DistributedSampler does"},
    {.name = "drop_last", .label = "Drop last", .member = &Settings::drop_last,
     .explanation = "Leave out the tail that does not divide evenly by ranks, instead of padding"},
    {.name = "uneven_inputs", .label = "Uneven inputs", .member = &Settings::uneven_inputs,
     .choices = kUnevenInputs,
     .explanation = "even gives every rank as many sequences; join trains on each once, and ranks "
                    "that ran out take part with a gradient of zero, as PyTorch's Join"},
    {.name = "dropout", .label = "Dropout", .member = &Settings::dropout, .minimum = 0,
     .maximum = 0.9,
     .explanation = "Probability with which activations are zeroed while training"},
};
// clang-format on

}  // namespace

std::span<const Knob> model_and_data_knobs() { return kModelAndDataKnobs; }

}  // namespace shardlens::trace
