// What the files of a saved model are: which tensor lies where, in one file or several with an
// index, and config.json. Plain values, any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/result.h"
#include "trace/job/shape/model_shape.h"
#include "trainer/checkpoint/safetensors.h"

namespace shardlens::trainer::huggingface {

// As transformers: larger models are cut into files of at most so many bytes, tensors stay whole.
inline constexpr std::int64_t kFileBytes = 5'000'000'000;

struct SavedLayout {
  std::vector<checkpoint::FileLayout> files;
  struct Place {
    std::size_t file = 0, tensor = 0;
  };
  std::map<std::string, Place, std::less<>> places;
  std::int64_t values = 0;  // of all tensors

  // model.safetensors.index.json; "" for a single file.
  std::string index() const;
};

// What the files of a model that was saved here say, by which its folder is known as one that may
// be replaced. `format: pt` is what transformers asks for.
inline checkpoint::Metadata saved_metadata() {
  return {{"format", "pt"}, {"written_by", "shardlens"}};
}

// All parameters of a model, tied ones once. The same on every rank.
SavedLayout layout_of(const trace::job::ModelShape& shape, checkpoint::DataType type,
                      std::int64_t file_bytes = kFileBytes);

// The config.json: `original`, the source's, with the type of the values, the architecture that was
// trained and, for a classifier, its classes (`labels`: their names, or empty: as they were or by
// number). Without an original, "", one of the shape's family.
trace::base::Result<std::string> saved_config(std::string_view original,
                                              const trace::job::ModelShape& shape,
                                              checkpoint::DataType type,
                                              const std::vector<std::string>& labels);

}  // namespace shardlens::trainer::huggingface
