// The allocations that were alive at a step's peak, as a table. Free of ImGui; any thread.
#pragma once

#include <memory>

#include "trace/timeline/values/step_memory.h"
#include "ui/present/table_model.h"

namespace shardlens::ui::inspect {

// Row i is memory->peak.alive[i], the largest first.
std::shared_ptr<const present::Table> memory_table(
    const std::shared_ptr<const trace::timeline::StepMemory>& memory);

}  // namespace shardlens::ui::inspect
