#include "trace/job/shape/sequence_fit.h"

#include <string>

namespace shardlens::trace::job {

base::Result<void> check_sequence(const ModelShape& shape, std::int64_t sequence_length) {
  const std::int64_t longest = shape.longest_sequence();
  if (sequence_length <= longest) return {};
  return base::fail(base::ErrorKind::kUsage,
                    "sequence_length is " + std::to_string(sequence_length) + ", but model " +
                        shape.name + " has a context of " + std::to_string(longest) +
                        " tokens. Set sequence_length to at most " + std::to_string(longest) +
                        ", or choose another model.");
}

}  // namespace shardlens::trace::job
