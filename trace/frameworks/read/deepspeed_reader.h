// DeepSpeed's ds_config.json as settings. Any thread.
#pragma once

#include <cstdint>

#include "trace/base/result.h"
#include "trace/frameworks/read/config_file.h"
#include "trace/frameworks/read/foreign_settings.h"

namespace shardlens::trace::frameworks {

// Whether the keys are DeepSpeed's: at least one that no other framework has.
bool is_deepspeed(const ConfigFile& file);
// What the file leaves out is as DeepSpeed has it: stage 0, buckets of 500,000,000 elements, no
// clipping. Errors: see parse_foreign_settings().
base::Result<ForeignSettings> read_deepspeed(const ConfigFile& file, std::int64_t ranks);

}  // namespace shardlens::trace::frameworks
