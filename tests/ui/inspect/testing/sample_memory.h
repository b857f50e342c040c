// A step's memory as a small transformer with AdamW has it, invented: for tests and pictures.
#pragma once

#include <memory>

#include "trace/timeline/values/step_memory.h"

namespace shardlens::ui::inspect {

// Step 4 of rank 0; steps 4 and 8 have a record.
std::shared_ptr<const trace::timeline::StepMemory> sample_memory(bool hides_constant = false);

}  // namespace shardlens::ui::inspect
