// `optimizer`, `gradient_clipping` and `scheduler` of a ds_config.json as settings. Any thread.
#pragma once

#include "trace/frameworks/read/config_reader.h"

namespace shardlens::trace::frameworks {

// AdamW and SGD. A file without an optimizer says nothing about it: the program passes one. Without
// clipping nothing is clipped.
void read_deepspeed_optimizer(ConfigReader& in);

// WarmupLR, WarmupDecayLR and WarmupCosineLR; others are ignored, as is what these have beyond
// ours. After the optimizer, whose learning rate the first two replace. A file without a scheduler
// says nothing about it: the program may pass one.
void read_deepspeed_schedule(ConfigReader& in);

}  // namespace shardlens::trace::frameworks
