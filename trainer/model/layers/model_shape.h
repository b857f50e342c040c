// What training asks of a model's shape beyond the shape itself. Plain values, any thread.
#pragma once

#include <cstdint>

#include "trace/base/result.h"
#include "trace/job/shape/model_shape.h"

namespace shardlens::trainer {

using trace::Activation;
using trace::find_model_preset;
using trace::ModelLayout;
using trace::ModelShape;
using trace::RotaryKind;
using trace::RotaryScaling;

// Error kUsage: a sequence of so many tokens does not fit the context.
trace::Result<void> check_fits(const ModelShape& shape, std::int64_t sequence_length);

}  // namespace shardlens::trainer
