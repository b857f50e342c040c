// Files that the window saves for its user, under names that are not taken. Any thread.
#pragma once

#include <filesystem>
#include <string>

#include "trace/base/result.h"

namespace shardlens::app::session {

// `folder`/`name`, or with " 2", " 3", … before the ending where that is taken. What a path would
// understand in `name` is replaced.
std::filesystem::path free_file_name(const std::filesystem::path& folder, const std::string& name);

// Writes `text` to such a file and returns where. Error kIo.
trace::base::Result<std::filesystem::path> save_text(const std::filesystem::path& folder,
                                                     const std::string& name,
                                                     const std::string& text);

}  // namespace shardlens::app::session
