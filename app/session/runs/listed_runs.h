// The runs of a library without the window: what each is and its number, the figures only of those
// that are asked for. Any thread; waits for the disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/launch/program_files.h"
#include "app/session/runs/library_run.h"
#include "trace/job/settings/settings.h"

namespace shardlens::app::session {

struct ListedRun {
  LibraryRun record;         // with its number
  bool has_figures = false;  // else only what its run file says
};
struct ListedRuns {
  std::vector<ListedRun> runs;        // newest first
  std::vector<std::string> problems;  // runs that are not listed, and why
  std::string warning;                // why runs have no numbers; "": they have
  std::int64_t next_number = 1;       // of the next run
};
ListedRuns listed_runs(const std::filesystem::path& runs_dir);
// The same for runs that came with the program, which have no numbers.
ListedRuns listed_examples(const std::filesystem::path& folder);

// A run by its path, name or number in the library, or one of the examples. Errors: as
// store::find_run().
trace::base::Result<std::filesystem::path> find_listed_run(
    std::string_view run, const std::filesystem::path& runs_dir,
    const std::filesystem::path& examples = launch::bundled_runs());

// With the folder of the run that `resume` names, as other commands do: by name or number.
trace::job::Settings with_resumed_run(trace::job::Settings settings,
                                      const std::filesystem::path& runs_dir);

// Reads a run's figures unless they were kept, and keeps them.
trace::base::Result<LibraryRun> with_figures(ListedRun run);

}  // namespace shardlens::app::session
