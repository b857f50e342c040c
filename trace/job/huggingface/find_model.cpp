#include "trace/job/huggingface/find_model.h"

#include <algorithm>
#include <system_error>
#include <utility>
#include <variant>

#include "trace/base/file_system.h"
#include "trace/job/huggingface/model_config.h"
#include "trace/job/settings/settings.h"

namespace shardlens::trace::job {

namespace fs = std::filesystem;

namespace {

// The largest known have a few hundred KB, of names of classes.
constexpr std::uintmax_t kLargestConfig = 16u << 20;

std::string quoted_path(const fs::path& path) { return "\"" + path.string() + "\""; }

std::string absolute_path(const std::string& text) {
  std::error_code error;
  const fs::path path = fs::absolute(text, error).lexically_normal();
  if (error) return text;
  // "folder/" and "folder" are one.
  return (path.has_filename() ? path : path.parent_path()).string();
}

base::Result<ModelShape> folder_shape(const std::string& model) {
  const fs::path folder = model;
  TRY_ASSIGN(const std::string json, read_model_config(folder));
  TRY_ASSIGN(ModelShape shape, shape_from_config(json, quoted_path(folder / kConfigFile)));
  shape.name = model;
  return shape;
}

base::Result<ModelShape> with_folders_explained(base::Result<ModelShape> found) {
  if (found) return found;
  base::Error error = found.error();
  error.message += " A model folder is named by its path, with a slash: ./my-model.";
  return tl::make_unexpected(std::move(error));
}

}  // namespace

bool is_model_folder(const std::string& model) {
  if (model.empty() || find_planning_model(model)) return false;
  std::error_code error;
  return model.find('/') != std::string::npos || fs::is_directory(model, error);
}

std::string absolute_model(const std::string& model) {
  return is_model_folder(model) ? absolute_path(model) : model;
}

Settings with_absolute_paths(Settings settings) {
  settings.model = absolute_model(settings.model);
  for (const Knob& knob : knobs()) {
    if (!names_a_path(knob) || knob.name == "model") continue;
    std::string& value = settings.**std::get_if<std::string Settings::*>(&knob.member);
    // The project's own text may be evaluated on, too.
    const bool is_word = value.empty() || value == Settings{}.data ||
                         std::ranges::find(knob.choices, value) != knob.choices.end();
    if (!is_word) value = absolute_path(value);
  }
  return settings;
}

base::Result<std::string> read_model_config(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return base::fail(base::ErrorKind::kUsage,
                      "model: " + quoted_path(folder) +
                          " is not a folder. Name a preset, or a folder with "
                          "config.json and safetensors files.");
  }
  const fs::path file = folder / kConfigFile;
  if (!fs::is_regular_file(file, error) && fs::exists(folder / "adapter_config.json", error)) {
    return base::fail(base::ErrorKind::kUsage,
                      "model: " + quoted_path(folder) +
                          " holds adapters alone, which training cannot go on from. "
                          "Name the model's folder, and resume: a checkpoint of the "
                          "run; or save the model with merge_lora: true.");
  }
  if (!fs::is_regular_file(file, error)) {
    return base::fail(base::ErrorKind::kMissing,
                      "model: there is no config.json in " + quoted_path(folder) +
                          ". Name a folder as it is downloaded from the Hugging "
                          "Face hub.");
  }
  if (fs::file_size(file, error) > kLargestConfig || error) {
    return base::fail(base::ErrorKind::kDamaged,
                      quoted_path(file) + " is too large for a config.json.");
  }
  if (auto text = base::whole_text(file)) return std::move(*text);
  return base::fail(base::ErrorKind::kIo,
                    quoted_path(file) + " cannot be read. Check its permissions.");
}

base::Result<ModelShape> find_model(const std::string& model) {
  return is_model_folder(model) ? folder_shape(model)
                                : with_folders_explained(find_model_preset(model));
}

base::Result<ModelShape> find_planned_model(const std::string& model) {
  return is_model_folder(model) ? folder_shape(model)
                                : with_folders_explained(find_planning_model(model));
}

base::Result<ModelShape> with_classes(ModelShape shape, const Settings& settings) {
  if (settings.num_labels == kAuto) return shape;
  if (!is_encoder(shape.layout)) {
    return base::fail(base::ErrorKind::kUsage,
                      "num_labels is for classifiers, and the model " + settings.model +
                          " predicts text. Set num_labels: auto, or model to the folder of a "
                          "classifier (BERT, RoBERTa).");
  }
  shape.labels = settings.num_labels;
  return shape;
}

base::Result<ModelShape> find_model(const Settings& settings) {
  TRY_ASSIGN(ModelShape shape, find_model(settings.model));
  return with_classes(std::move(shape), settings);
}

base::Result<ModelShape> find_planned_model(const Settings& settings) {
  TRY_ASSIGN(ModelShape shape, find_planned_model(settings.model));
  return with_classes(std::move(shape), settings);
}

bool leaves_model(const Settings& settings) {
  if (settings.save_model != SaveModel::kAuto) return settings.save_model != SaveModel::kNone;
  return settings.lora_rank > 0 || is_model_folder(settings.model);
}

}  // namespace shardlens::trace::job
