// What the memory tab says, in words and as a table. Free of ImGui; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "trace/timeline/values/step_memory.h"
#include "ui/present/table_model.h"

namespace shardlens::ui::inspect {

// The operator that asked for it, or, where none was recorded, what it is for.
std::string allocation_title(const trace::timeline::StepMemory& memory,
                             const trace::timeline::StepAllocation& allocation);
// "1.204 ms into the step, in forward"; "before the step began".
std::string allocated_text(const trace::timeline::StepMemory& memory,
                           const trace::timeline::StepAllocation& allocation);
// "1.204 ms into the step, in backward, after 310 µs"; "not in this step".
std::string freed_text(const trace::timeline::StepMemory& memory,
                       const trace::timeline::StepAllocation& allocation);
// "1,234 smaller ones, 12.3 MiB"
std::string small_text(std::int64_t count, std::int64_t bytes);

// "Step's peak of tensors 27.3 MiB, 41.2 ms into the step, in backward · 1,234 allocations"
std::string memory_summary(const trace::timeline::StepMemory& memory);
// Against what was counted while the step ran, and what the allocator held beyond it: for a
// tooltip.
std::string peak_sources(const trace::timeline::StepMemory& memory);
// The allocations that were alive at the step's peak: row i is memory->peak.alive[i], the largest
// first.
std::shared_ptr<const present::Table> memory_table(
    const std::shared_ptr<const trace::timeline::StepMemory>& memory);

// What a run's trainer was to record, and between which steps there is something to record.
struct RecordedRun {
  std::string record, record_allocations;
  std::int64_t first_step = -1, last_step = -1;  // so far; -1: none
  bool is_live = false;
};
// Why there is no picture, and how to get one. `run`: nothing of another program's.
struct NoMemoryRecord {
  std::string title, body;
  std::int64_t nearest_step = -1;  // of the rank, with a record; -1: none
};
NoMemoryRecord no_memory_record(const trace::timeline::StepMemory& memory,
                                const std::optional<RecordedRun>& run);

}  // namespace shardlens::ui::inspect
