// A job's settings as Accelerate's configuration file. Any thread.
#pragma once

#include <string_view>

#include "trace/frameworks/framework_file.h"

namespace shardlens::trace::frameworks {

// What Accelerate does otherwise with FSDP of version 2 (fsdp2_prepare_model, Accelerator.no_sync),
// whatever its file says.
inline constexpr std::string_view kUnitsOfAccelerate =
    "Accelerate 1.15 makes the input embedding a unit, and of the last norm and the head another "
    "one that stays gathered until backward; here both are in the root";
inline constexpr std::string_view kMicroBatchesOfAccelerate =
    "with Accelerate's no_sync micro-batches that reduce nothing free all units, and the next one "
    "gathers them again; model.set_reshard_after_backward(False) before them keeps them, as here";

// YAML as `accelerate config` writes it, with the keys of Accelerate 1.15: MULTI_GPU or MULTI_CPU
// for ddp and no_shard, FSDP of version 2 for strategies with sharded units, DEEPSPEED of stage 1
// for zero1. What is left out stands in comments at its top, too.
FrameworkFile accelerate_config(const TunedJob& job);

}  // namespace shardlens::trace::frameworks
