// How a config.json tells rotary positions, in the spellings of transformers 4 (`rope_theta`,
// `rope_scaling`) and 5 (`rope_parameters`). One thread.
#pragma once

#include "trace/job/huggingface/config_keys.h"
#include "trace/job/shape/model_shape.h"

namespace shardlens::trace::job {

// Fills rotary_base and rotary; shape.context must be known.
void read_rotary(ConfigKeys& keys, ModelShape& shape);

}  // namespace shardlens::trace::job
