// What of a run is kept to go on from, or to use.
#include "trace/model/knob_groups.h"

namespace shardlens::trace {

namespace {

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
     .member = &Settings::checkpoint_format, .choices = kCheckpointFormats,
     .explanation = "full is one file of whole tensors; sharded is one file per rank"},
    {.name = "checkpoint_on_stop", .label = "Save when stopped",
     .member = &Settings::checkpoint_on_stop,
     .explanation = "A run that is stopped, or gets SIGTERM, saves a checkpoint before it leaves"},
    {.name = "resume", .label = "Resume from", .member = &Settings::resume, .choices = kNone,
     .choices_are_open = true,
     .accepted = "none, or the folder of a checkpoint or of a run",
     .explanation = "A checkpoint's folder, or a run's, to go on from with any strategy and ranks"},
    {.name = "keep_best", .label = "Keep the best", .member = &Settings::keep_best,
     .explanation = "A checkpoint after each evaluation with the lowest loss so far, kept beside the last "
                    "ones"},
    {.name = "save_model", .label = "Save the model", .member = &Settings::save_model,
     .choices = kSaveModel,
     .explanation = "A Hugging Face folder in the run's: at the end, or at the best evaluation; auto is "
                    "end for models that came from a folder or have adapters"},
    {.name = "merge_lora", .label = "Merge adapters", .member = &Settings::merge_lora,
     .explanation = "The saved model has the adapters added to its weights instead of beside them"},
};
// clang-format on

}  // namespace

std::span<const Knob> checkpoint_knobs() { return kCheckpointKnobs; }

}  // namespace shardlens::trace
