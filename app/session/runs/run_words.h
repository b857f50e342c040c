// Names, notes, tags and bookmarks of runs, as the window and the command line change them. Any
// thread; waits for the disk.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trace/store/run/run_folder.h"

namespace shardlens::app {

inline constexpr const char* kStaysAsItIs = "Runs that came with the program stay as they are.";

// Refused where another run of the library has the name. What the library found out about the run
// stays valid: its events have not changed.
trace::Result<void> change_words(const std::filesystem::path& runs_dir,
                                 const std::filesystem::path& run, trace::RunWords words);

// The bookmarks that the run has then.
trace::Result<trace::Bookmarks> change_bookmarks(const std::filesystem::path& run,
                                                 const std::vector<trace::BookmarkChange>& changes);

// Brings the words of what is `shown` up to date; true if they have changed.
bool take_words(trace::RunInfo& shown, const trace::RunInfo& now);

}  // namespace shardlens::app
