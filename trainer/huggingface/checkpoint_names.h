// What the tensors of a checkpoint are called, and what they are in our models, whose names are
// those of transformers. Plain functions, any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/result.h"
#include "trace/job/shape/model_shape.h"
#include "trace/job/shape/parameter_shapes.h"

namespace shardlens::trainer::huggingface {

// The output matrix of a decoder, and its token embedding, which may be the same.
inline constexpr std::string_view kHeadName = "lm_head.weight";
std::string_view embedding_name(trace::job::ModelLayout decoder);

struct StoredTensor {
  std::string name;
  std::vector<std::int64_t> sizes;
  std::string type;  // "BF16"
};

struct MatchedNames {
  // From a parameter of the model to the index of the stored tensor that has its values.
  std::map<std::string, std::size_t, std::less<>> stored;
  // Parameters of a classifier's head that the checkpoint, of another task or for another number of
  // classes, does not have.
  std::vector<std::string> fresh;
  std::int64_t other_classes = 0;  // of the head that it has instead; 0: it has none
};

// Takes prefixes of bare models, old names of norms and heads of other tasks into account. Error
// kUsage, one that lists all (the first ten) that are missing, of another shape, of a type that is
// not read, or that no parameter of the model wants. `source` is how messages call the folder.
trace::base::Result<MatchedNames> match_names(const trace::job::ModelShape& shape,
                                              const std::vector<StoredTensor>& stored,
                                              const std::string& source);

}  // namespace shardlens::trainer::huggingface
