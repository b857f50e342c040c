// Names, notes, tags and bookmarks of runs, as the window and the command line change them. Any
// thread; waits for the disk.
#pragma once

#include <filesystem>
#include <vector>

#include "trace/store/run/run_folder.h"

namespace shardlens::app::session {

inline constexpr const char* kStaysAsItIs = "Runs that came with the program stay as they are.";

// Refused where another run of the library has the name. What the library found out about the run
// stays valid: its events have not changed.
trace::base::Result<void> change_words(const std::filesystem::path& runs_dir,
                                       const std::filesystem::path& run,
                                       trace::store::RunWords words);

// The bookmarks that the run has then.
trace::base::Result<trace::model::Bookmarks> change_bookmarks(
    const std::filesystem::path& run, const std::vector<trace::model::BookmarkChange>& changes);

// Brings the words of what is `shown` up to date; true if they have changed.
bool take_words(trace::model::RunInfo& shown, const trace::model::RunInfo& now);

}  // namespace shardlens::app::session
