// A run of a sweep, as the sweep counts it. Any thread; waits for the disk.
#pragma once

#include <filesystem>

#include "app/session/runs/library_run.h"
#include "app/sweep/sweep.h"

namespace shardlens::app::session {

sweep::WholeRun measured(const LibraryRun& record);
// By the figures that are kept with it, else by reading all of it.
trace::base::Result<sweep::WholeRun> measured_run(const std::filesystem::path& run);

}  // namespace shardlens::app::session
