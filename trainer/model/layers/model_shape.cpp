#include "trainer/model/layers/model_shape.h"

#include <string>

namespace shardlens::trainer::model {

trace::base::Result<void> check_fits(const ModelShape& shape, std::int64_t sequence_length) {
  if (sequence_length > shape.longest_sequence()) {
    return trace::base::fail(
        trace::base::ErrorKind::kUsage,
        "sequence_length is " + std::to_string(sequence_length) + ", but model " + shape.name +
            " has a context of " + std::to_string(shape.longest_sequence()) +
            " tokens. Set sequence_length to at most " + std::to_string(shape.longest_sequence()) +
            " or choose another model.");
  }
  return {};
}

}  // namespace shardlens::trainer::model
