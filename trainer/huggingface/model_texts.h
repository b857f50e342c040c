// What a saved model has beside its weights. Any thread.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "trace/base/result.h"
#include "trace/job/shape/model_shape.h"
#include "trainer/checkpoint/safetensors.h"

namespace shardlens::trainer::huggingface {

// As it was when training began: after days the folders may be gone, or hold another model.
struct ModelTexts {
  checkpoint::DataType type = checkpoint::DataType::kF32;  // of most values of the source
  std::string config;                                      // the source's; "": a preset
  std::map<std::filesystem::path, std::string> files;      // by their places in a model's folder
};

// `source`: the model folder that training starts from, whose config.json is taken over, and its
// chat templates where the tokenizer has none; empty: a preset. `tokenizer`: the folder of the
// tokenizer that texts are encoded with, or its file, as the setting may name either; empty: none.
// Errors: those of FolderSource::open() and read_model_config(), and files that cannot be read.
trace::base::Result<ModelTexts> read_model_texts(const std::filesystem::path& source,
                                                 const std::filesystem::path& tokenizer,
                                                 const trace::job::ModelShape& shape);

}  // namespace shardlens::trainer::huggingface
