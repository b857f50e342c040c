// Accelerate's configuration file as settings. Any thread.
#pragma once

#include <cstdint>

#include "trace/base/result.h"
#include "trace/frameworks/read/config_file.h"
#include "trace/frameworks/read/foreign_settings.h"

namespace shardlens::trace::frameworks {

// Whether the keys are Accelerate's.
bool is_accelerate(const ConfigFile& file);
// What the file leaves out of FSDP or DeepSpeed is as these have it; what the program decides stays
// at our defaults. Errors: see parse_foreign_settings().
base::Result<ForeignSettings> read_accelerate(const ConfigFile& file, std::int64_t ranks);

}  // namespace shardlens::trace::frameworks
