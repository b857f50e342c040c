// What the setting `model` means: a preset's name, or a folder as the Hugging Face hub has it; and
// what follows from it for other settings. Reads a file: any thread but the UI's.
#pragma once

#include <filesystem>
#include <string>

#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trace/job/shape/model_shape.h"

namespace shardlens::trace::job {

inline constexpr const char* kConfigFile = "config.json";

// No preset's name, and with a slash or an existing folder.
bool is_model_folder(const std::string& model);
// A folder's absolute path, so that a stored setting says where it was; presets as they are.
std::string absolute_model(const std::string& model);
// The same of all settings that name files or folders.
Settings with_absolute_paths(Settings settings);

// The bytes of config.json. Errors: kMissing, kDamaged (absurdly large), kIo.
base::Result<std::string> read_model_config(const std::filesystem::path& folder);

// The shape of a preset that can be trained, or of a folder. Errors: kUsage: neither a preset,
// which are named, nor a folder; kMissing: no config.json there; those of shape_from_config().
base::Result<ModelShape> find_model(const std::string& model);
// Presets that can only be planned for, too.
base::Result<ModelShape> find_planned_model(const std::string& model);

// A model as a job trains it, with as many classes as `num_labels` says. Error kUsage: it does not
// classify.
base::Result<ModelShape> with_classes(ModelShape shape, const Settings& settings);
base::Result<ModelShape> find_model(const Settings& settings);
base::Result<ModelShape> find_planned_model(const Settings& settings);

// Whether a job that comes to its end leaves a model: `save_model: auto` does for models that came
// from a folder or have adapters.
bool leaves_model(const Settings& settings);

}  // namespace shardlens::trace::job
