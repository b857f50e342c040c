#include "trace/job/checkpoint/checkpoint_info.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include "trace/base/checksum.h"
#include "trace/base/file_system.h"
#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "trace/job/shape/shape_text.h"

namespace shardlens::trace::job {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kStepPrefix = "step_";
// A 70-billion-parameter model saved by a thousand ranks has about a megabyte.
constexpr std::int64_t kLargestCheckpointFile = 64 << 20;
// What the safetensors format allows, and how many differences are worth naming.
constexpr std::int64_t kLargestHeader = 100'000'000;
constexpr std::size_t kNamedDifferences = 5;

std::optional<std::int64_t> step_of(const std::string& name) {
  if (!name.starts_with(kStepPrefix)) return std::nullopt;
  // Anything after the number, as in "step_000020.tmp-12", is not a checkpoint that stands.
  const auto step =
      base::number_from<std::int64_t>(std::string_view(name).substr(kStepPrefix.size()));
  return step && *step >= 0 ? step : std::nullopt;
}

tl::unexpected<base::Error> damaged_file(const fs::path& file, const std::string& why) {
  return base::fail(base::ErrorKind::kDamaged, base::quoted(file) + " " + why +
                                                   ": the checkpoint is damaged, use another one");
}

base::Result<void> check_header(const fs::path& path, const CheckpointFile& file) {
  const std::int64_t bytes = base::file_size_or_zero(path);
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return damaged_file(path, "is missing");
  if (bytes != file.bytes) {
    return damaged_file(
        path, "has " + std::to_string(bytes) + " bytes instead of " + std::to_string(file.bytes));
  }
  if (file.header_bytes > kLargestHeader) return damaged_file(path, "has a header too large");
  std::string header(static_cast<std::size_t>(file.header_bytes), '\0');
  std::ifstream stream(path, std::ios::binary);
  stream.read(header.data(), static_cast<std::streamsize>(header.size()));
  if (!stream) {
    return base::fail(base::ErrorKind::kIo,
                      "cannot read " + base::quoted(path) + ": check its permissions");
  }
  if (base::checksum_of(header) != file.header_checksum) {
    return damaged_file(path, "has a header with another checksum");
  }
  return {};
}

base::Result<std::string> text_of_info(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    return base::fail(base::ErrorKind::kMissing, base::quoted(file.parent_path()) +
                                                     " is not a checkpoint: it has no " +
                                                     std::string(kCheckpointFile));
  }
  if (base::file_size_or_zero(file) > kLargestCheckpointFile) {
    return damaged_file(file, "is too large to be a checkpoint's");
  }
  if (auto text = base::whole_text(file)) return std::move(*text);
  return base::fail(base::ErrorKind::kIo,
                    "cannot read " + base::quoted(file) + ": check its permissions");
}

struct ShapeDifferences {
  std::vector<std::string> misshapen, missing, extra;
};

ShapeDifferences differences(const CheckpointInfo& info, std::span<const ParameterShape> expected) {
  ShapeDifferences found;
  std::map<std::string_view, const ParameterShape*> there;
  for (const ParameterShape& parameter : info.parameters) there[parameter.name] = &parameter;
  for (const ParameterShape& parameter : expected) {
    const auto at = there.find(parameter.name);
    if (at == there.end()) {
      found.missing.push_back("'" + parameter.name + "'");
      continue;
    }
    if (at->second->sizes != parameter.sizes) {
      found.misshapen.push_back("'" + parameter.name + "' is " + sizes_text(at->second->sizes) +
                                " there and " + sizes_text(parameter.sizes) + " here");
    }
    there.erase(at);
  }
  for (const ParameterShape& parameter : info.parameters) {
    if (there.contains(parameter.name)) found.extra.push_back("'" + parameter.name + "'");
  }
  return found;
}

// Of a note those words that the other one lacks; a shape leaves out what is by default.
std::string other_words(std::string_view note, std::string_view other) {
  auto words = base::split(note, ' ');
  const auto known = base::split(other, ' ');
  std::erase_if(words, [&](auto word) { return std::ranges::find(known, word) != known.end(); });
  return words.empty() ? "the default" : base::joined(words, " ");
}

}  // namespace

std::string checkpoint_folder_name(std::int64_t step) {
  const std::string digits = std::to_string(step);
  return std::string(kStepPrefix) + std::string(6 - std::min<std::size_t>(6, digits.size()), '0') +
         digits;
}

std::vector<CheckpointFolder> list_checkpoints(const fs::path& checkpoints_folder) {
  std::vector<CheckpointFolder> found;
  std::error_code error;
  for (fs::directory_iterator entry(checkpoints_folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto step = step_of(entry->path().filename().string());
    if (step && fs::is_regular_file(entry->path() / kCheckpointFile, error)) {
      found.push_back({*step, entry->path()});
    }
  }
  std::ranges::sort(found, {}, &CheckpointFolder::step);
  return found;
}

base::Result<fs::path> find_checkpoint(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return base::fail(base::ErrorKind::kMissing,
                      "there is no " + base::quoted(path) +
                          " to resume from: name a checkpoint's folder or a run's");
  }
  if (!fs::is_directory(path, error)) {
    return base::fail(base::ErrorKind::kForeign,
                      base::quoted(path) +
                          " is a file: name the folder of a checkpoint or "
                          "of a run");
  }
  if (fs::is_regular_file(path / kCheckpointFile, error)) return path;
  for (const fs::path& folder : {path, path / kCheckpointsFolder}) {
    const std::vector<CheckpointFolder> found = list_checkpoints(folder);
    if (!found.empty()) return found.back().path;
  }
  // Not taken unasked: it may be far behind.
  const std::vector<CheckpointFolder> best = list_checkpoints(path / kBestCheckpointFolder);
  return base::fail(
      base::ErrorKind::kMissing,
      base::quoted(path) +
          (best.empty()
               ? " holds no checkpoint: the run saved none (save_every, checkpoint_on_stop)"
               : " holds no checkpoint but its best: to go on from there, name " +
                     base::quoted(best.back().path)));
}

base::Result<CheckpointInfo> read_checkpoint_info(const fs::path& folder) {
  const fs::path file = folder / kCheckpointFile;
  TRY_ASSIGN(const std::string text, text_of_info(file));
  TRY_ASSIGN(CheckpointInfo info, parse_checkpoint_info(text, base::quoted(file)));
  info.folder = folder;
  for (const CheckpointFile& part : info.files) TRY(check_header(folder / part.name, part));
  return info;
}

std::uint64_t shape_fingerprint(std::span<const ParameterShape> parameters) {
  std::vector<std::string> lines;
  for (const ParameterShape& parameter : parameters) {
    lines.push_back(parameter.name + " " + sizes_text(parameter.sizes) + "\n");
  }
  std::ranges::sort(lines);
  std::string text;
  for (const std::string& line : lines) text += line;
  return base::checksum_of(text);
}

base::Result<void> check_parameters(const CheckpointInfo& info,
                                    std::span<const ParameterShape> expected) {
  const ShapeDifferences found = differences(info, expected);
  std::string text;
  const auto add = [&text](const std::string& what, const std::vector<std::string>& names) {
    if (!names.empty())
      text += (text.empty() ? "" : "; ") + what + base::some_of(names, kNamedDifferences);
  };
  add("", found.misshapen);
  add("not in the checkpoint: ", found.missing);
  add("only in the checkpoint: ", found.extra);
  if (text.empty()) return {};
  const bool are_adapters = text.find(".lora_") != text.npos;
  return base::fail(
      base::ErrorKind::kUsage,
      "cannot resume from " + base::quoted(info.folder) +
          ", which is of a model of another shape: " + text + ". Set " +
          (are_adapters ? "lora_rank and lora_target_modules as they were when it was saved"
                        : "model to the one it was saved with ('" + info.model + "')") +
          ", or resume from another checkpoint");
}

std::map<std::string, std::string> notes_of_meaning(const Settings& settings, ModelShape shape) {
  shape.name.clear();
  // One function however a config spells it; sizes are compared by the parameters.
  if (shape.heads > 0) shape.head_size = shape.head_width();
  shape.context = 0;
  const RotaryScaling none;
  if (shape.rotary.kind == RotaryKind::kDynamic) shape.rotary = none;  // acts beyond the context
  if (shape.rotary.kind == RotaryKind::kLinear) {
    shape.rotary.original_context = none.original_context;
  }
  std::map<std::string, std::string> notes{{"model_shape", shape_text(shape)}};
  if (settings.lora_rank > 0) notes["lora_alpha"] = base::shortest_text(settings.lora_alpha);
  return notes;
}

base::Result<void> check_resume(const CheckpointInfo& info, const Settings& settings,
                                std::span<const ParameterShape> parameters,
                                const std::map<std::string, std::string>& meaning,
                                bool leaves_model) {
  const std::string checkpoint = "resume: " + info.folder.string();
  if (info.optimizer != chosen<&Settings::optimizer>(settings)) {
    return base::fail(base::ErrorKind::kUsage, checkpoint + " was saved with optimizer " +
                                                   info.optimizer +
                                                   "; set optimizer: " + info.optimizer + ".");
  }
  const bool is_at_end = settings.epochs == 0 && info.step == settings.steps;
  const bool has_nothing_to_do = is_at_end && !leaves_model;
  if (has_nothing_to_do || (settings.epochs == 0 && info.step > settings.steps)) {
    return base::fail(base::ErrorKind::kUsage,
                      checkpoint + " has " + std::to_string(info.step) +
                          " steps done already; set steps to more than that" +
                          (is_at_end ? ", or save_model: end to save its model" : "") + ".");
  }
  TRY(check_parameters(info, parameters));
  for (const auto& [name, here] : meaning) {
    const auto there = info.notes.find(name);
    if (there == info.notes.end() || there->second == here) continue;  // older ones have none
    return base::fail(base::ErrorKind::kUsage,
                      checkpoint + " was saved with " + name + " " +
                          other_words(there->second, here) + ", and here it is " +
                          other_words(here, there->second) +
                          ". Set model and lora_alpha as they were when it was saved, or do not "
                          "resume.");
  }
  return {};
}

std::string sizes_text(std::span<const std::int64_t> sizes) {
  return "[" + base::joined(sizes) + "]";
}

}  // namespace shardlens::trace::job
