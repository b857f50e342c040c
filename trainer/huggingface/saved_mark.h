// How a model folder says that it was written here, and may be replaced. Any thread.
#pragma once

#include <filesystem>

#include "trainer/checkpoint/safetensors.h"

namespace shardlens::trainer {

// `format: pt` is what transformers asks for.
inline Metadata saved_metadata() { return {{"format", "pt"}, {"written_by", "shardlens"}}; }
bool was_saved_here(const std::filesystem::path& folder);

}  // namespace shardlens::trainer
