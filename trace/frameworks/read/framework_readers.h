// The readers of each framework's file. Any thread.
#pragma once

#include <cstdint>

#include "trace/frameworks/read/config_reader.h"

namespace shardlens::trace::frameworks {

// Whether the keys are Accelerate's.
bool is_accelerate(const ConfigFile& file);
// What the file leaves out of FSDP or DeepSpeed is as these have it; what the program decides stays
// at our defaults. Errors: see parse_foreign_settings().
base::Result<ForeignSettings> read_accelerate(const ConfigFile& file, std::int64_t ranks);

// Whether the keys are DeepSpeed's: at least one that no other framework has.
bool is_deepspeed(const ConfigFile& file);
// What the file leaves out is as DeepSpeed has it: stage 0, buckets of 500,000,000 elements, no
// clipping. Errors: see parse_foreign_settings().
base::Result<ForeignSettings> read_deepspeed(const ConfigFile& file, std::int64_t ranks);
// Of it `optimizer` and `gradient_clipping`: AdamW and SGD. A file without an optimizer says
// nothing about it: the program passes one. Without clipping nothing is clipped.
void read_deepspeed_optimizer(ConfigReader& in);
// Then `scheduler`: WarmupLR, WarmupDecayLR and WarmupCosineLR; others are ignored, as is what
// these have beyond ours. The first two replace the optimizer's learning rate. A file without a
// scheduler says nothing about it: the program may pass one.
void read_deepspeed_schedule(ConfigReader& in);

}  // namespace shardlens::trace::frameworks
