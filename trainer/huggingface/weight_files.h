// The safetensors files of a model folder: one, or several with an index. Any thread.
#pragma once

#include <filesystem>
#include <vector>

#include "trace/base/result.h"
#include "trainer/checkpoint/safetensors.h"

namespace shardlens::trainer::huggingface {

inline constexpr const char* kWeightsFile = "model.safetensors";
inline constexpr const char* kIndexFile = "model.safetensors.index.json";

// Opens their headers. Errors: kMissing: none there, or one that the index names; kDamaged: an
// index that is none, names paths elsewhere, or does not say what is in the files; a name that two
// files have; those of SafetensorsFile::open().
trace::base::Result<std::vector<checkpoint::SafetensorsFile>> open_weight_files(
    const std::filesystem::path& folder);

}  // namespace shardlens::trainer::huggingface
