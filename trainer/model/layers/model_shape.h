// A model's shape, under the names of this layer. Plain values, any thread.
#pragma once

#include "trace/job/shape/model_shape.h"

namespace shardlens::trainer::model {

using trace::job::Activation;
using trace::job::find_model_preset;
using trace::job::ModelLayout;
using trace::job::ModelShape;
using trace::job::RotaryKind;
using trace::job::RotaryScaling;

}  // namespace shardlens::trainer::model
