// Writes a model as a folder that transformers loads. The training thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trace/job/shape/model_shape.h"
#include "trainer/checkpoint/safetensors.h"
#include "trainer/comm/communicator.h"
#include "trainer/huggingface/model_texts.h"
#include "trainer/huggingface/saved_files.h"
#include "trainer/strategy/strategy.h"

namespace shardlens::trainer::huggingface {

struct SaveModelOptions {
  std::filesystem::path folder;
  trace::job::ModelShape shape;
  ModelTexts texts;                          // rank 0's are written
  std::optional<checkpoint::DataType> type;  // of the values; none: that of `texts`
  std::vector<std::string> labels;           // names of a classifier's classes; empty: as they were
  std::int64_t file_bytes = kFileBytes;
  // Makes of a part as the strategy keeps it, frozen weights in fewer bits, say, the part of a
  // parameter of the shape, one at a time; none: it is not of the model.
  using Expand =
      std::function<std::optional<strategy::LocalParameter>(const strategy::LocalParameter& kept)>;
  Expand expand;
  // Called as long as the save gets on, on ranks that wait for others, too: all may take long.
  std::function<void()> on_piece{};
};

// All ranks call it, each with what its strategy keeps; together the primary parts must cover every
// parameter of the shape exactly once, others are passed over. Each rank writes its parts into
// files that all share, so all must see the same file system; none holds more than 16 MiB beside
// its parts. It may take longer than a collective, as long as no rank stands still. The folder
// appears as a whole; one of this name is replaced if it was written here or is empty, else kUsage.
// The same result on all ranks. Throws c10::Error when a collective fails.
trace::base::Result<void> save_model_folder(const SaveModelOptions& options,
                                            std::span<const strategy::LocalParameter> parameters,
                                            comm::Communicator& communicator);

}  // namespace shardlens::trainer::huggingface
