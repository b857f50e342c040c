// Runs of a library that tell how far two runs lie apart by chance. Any thread.
#pragma once

#include <filesystem>
#include <vector>

#include "app/launch/program_files.h"
#include "app/session/runs/library_run.h"
#include "trace/analysis/figures/figures.h"

namespace shardlens::app::session {

// Those of the job of `first` and `second`, without these two: all of which the library has kept
// what is needed; of the rest, which are read, the newest few that did the same as one of the two,
// and then the newest others, as long as not much is to be read. Where both came with the program,
// those that came along instead of the library's.
std::vector<LibraryRun> siblings_of(const trace::analysis::RunFigures& first,
                                    const trace::analysis::RunFigures& second,
                                    const std::filesystem::path& runs_dir,
                                    const std::filesystem::path& examples = launch::bundled_runs());

}  // namespace shardlens::app::session
