// Whether a run that says it is running really is: the one rule for reports, views and the library.
// Any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/analysis/figures/figures.h"

namespace shardlens::app::session {

// What tells: the last sign of life and the processes that gave it. Plain values.
struct RunLiveness {
  struct Process {
    std::string host;
    std::int64_t id = 0;
  };
  trace::model::RunStatus status = trace::model::RunStatus::kRunning;  // as the run itself says
  std::int64_t start_ns = 0;
  std::int64_t alive_ns = 0;  // the latest heartbeat of any rank; 0: none yet
  int world_size = 0;
  std::vector<Process> processes;  // of the ranks that have reported
};

RunLiveness liveness_of(const trace::analysis::RunFigures& figures);

// The run says that it is running, yet nothing of it is: whoever ran it was killed and could not
// say how it ended. A silent recorder is no proof while its process lives (its disk may be full); a
// run whose ranks have not reported yet has two minutes.
bool is_abandoned(const RunLiveness& liveness, std::int64_t now_ns);

// Ranks may still write after the status was set: rank 0 sets it under torchrun.
inline constexpr std::chrono::seconds kReadOnAfterEnd{3};
// It ended in order, and so long ago that all ranks have written what they had.
bool is_written(const trace::model::RunInfo& info, std::int64_t now_ns);

// Gives such a run the status and the reason under which everybody shows it.
void mark_as_cut_off(trace::model::RunInfo& info);

}  // namespace shardlens::app::session
