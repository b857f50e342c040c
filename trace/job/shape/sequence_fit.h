// Whether a model takes sequences of a length. Any thread.
#pragma once

#include <cstdint>

#include "trace/base/result.h"
#include "trace/job/shape/model_shape.h"

namespace shardlens::trace::job {

// Error kUsage: so many tokens do not fit the model's context.
base::Result<void> check_sequence(const ModelShape& shape, std::int64_t sequence_length);

}  // namespace shardlens::trace::job
