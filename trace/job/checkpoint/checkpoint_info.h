// What a checkpoint says about itself, without LibTorch: found, read and checked before ranks
// start. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trace/job/shape/model_shape.h"
#include "trace/job/shape/parameter_shapes.h"

namespace shardlens::trace::job {

// <run>/checkpoints/step_000020/checkpoint.yaml beside model*.safetensors and
// optimizer*.safetensors.
inline constexpr std::string_view kCheckpointsFolder = "checkpoints";
// <run>/best_checkpoint/step_000040: of the evaluation with the lowest loss.
inline constexpr std::string_view kBestCheckpointFolder = "best_checkpoint";
inline constexpr std::string_view kCheckpointFile = "checkpoint.yaml";
// A folder with this in its name is being written, or is what a killed run left behind.
inline constexpr std::string_view kUnfinishedMark = ".tmp-";

struct CheckpointFile {
  std::string name;
  std::int64_t bytes = 0;
  std::int64_t header_bytes = 0;      // the file's first bytes, which hold
  std::uint64_t header_checksum = 0;  // the checksums of all others
};

struct CheckpointInfo {
  std::filesystem::path folder;  // where it was read from

  std::int64_t step = 0;  // optimizer steps done
  std::int64_t samples_seen = 0;
  std::int64_t epoch = 0;        // where the data goes on
  std::int64_t batch_index = 0;  // in that epoch
  std::uint64_t seed = 0;
  int world_size = 1;
  std::string strategy;
  std::string format = "full";  // or "sharded": files per rank
  std::string model;
  std::string optimizer;
  std::int64_t optimizer_steps = 0;  // the most that any parameter had
  std::int64_t saved_ns = 0;         // since 1970
  // What else the training loop needs to go on, in its own words (loss scale, …).
  std::map<std::string, std::string> notes;
  std::vector<ParameterShape> parameters;  // names and sizes
  std::vector<CheckpointFile> files;
};

std::string checkpoint_folder_name(std::int64_t step);  // "step_000020"
// The whole ones in a `checkpoints` folder, oldest step first.
struct CheckpointFolder {
  std::int64_t step = 0;
  std::filesystem::path path;
};
std::vector<CheckpointFolder> list_checkpoints(const std::filesystem::path& checkpoints_folder);

// `path`: a checkpoint's folder, a `checkpoints` folder or a run's folder (of these the last step).
base::Result<std::filesystem::path> find_checkpoint(const std::filesystem::path& path);

// Reads checkpoint.yaml and the beginning of each file it names, and checks both; the tensors' own
// bytes are checked when they are loaded. Errors name the file.
base::Result<CheckpointInfo> read_checkpoint_info(const std::filesystem::path& folder);

std::string checkpoint_info_to_yaml(const CheckpointInfo& info);
// Everything but what is in the other files; `source` is for errors.
base::Result<CheckpointInfo> parse_checkpoint_info(const std::string& yaml,
                                                   const std::string& source);

// Of names and sizes, in any order.
std::uint64_t shape_fingerprint(std::span<const ParameterShape> parameters);
// kUsage unless `expected` has the same names and sizes; names the differing tensors and both
// shapes.
base::Result<void> check_parameters(const CheckpointInfo& info,
                                    std::span<const ParameterShape> expected);

// Notes of what the saved values mean, which neither they nor their sizes tell: the scale of
// adapters, the model's shape. None depends on where the model lies.
std::map<std::string, std::string> notes_of_meaning(const Settings& settings, ModelShape shape);
// kUsage unless a job with these settings, parameters and meaning can go on from it: the same
// optimizer, the same parameters, the same meaning where it is noted, and steps left to do or, with
// them all done, a model to save.
base::Result<void> check_resume(const CheckpointInfo& info, const Settings& settings,
                                std::span<const ParameterShape> parameters,
                                const std::map<std::string, std::string>& meaning,
                                bool leaves_model);

std::string sizes_text(std::span<const std::int64_t> sizes);  // "[2, 3]"

}  // namespace shardlens::trace::job
