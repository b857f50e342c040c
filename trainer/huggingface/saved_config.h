// The config.json of a saved model. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/base/result.h"
#include "trace/job/shape/model_shape.h"
#include "trainer/checkpoint/safetensors.h"

namespace shardlens::trainer::huggingface {

// `original`, the source's, with the type of the values, the architecture that was trained and, for
// a classifier, its classes (`labels`: their names, or empty: as they were or by number). Without
// an original, "", one of the shape's family.
trace::base::Result<std::string> saved_config(std::string_view original,
                                              const trace::job::ModelShape& shape,
                                              checkpoint::DataType type,
                                              const std::vector<std::string>& labels);

}  // namespace shardlens::trainer::huggingface
