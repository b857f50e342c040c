// What training asks of a model's shape beyond the shape itself. Plain values, any thread.
#pragma once

#include <cstdint>

#include "trace/base/result.h"
#include "trace/job/shape/model_shape.h"

namespace shardlens::trainer::model {

using trace::job::Activation;
using trace::job::find_model_preset;
using trace::job::ModelLayout;
using trace::job::ModelShape;
using trace::job::RotaryKind;
using trace::job::RotaryScaling;

// Error kUsage: a sequence of so many tokens does not fit the context.
trace::base::Result<void> check_fits(const ModelShape& shape, std::int64_t sequence_length);

}  // namespace shardlens::trainer::model
