// Where pack and export may write, and how what they wrote appears. Any thread.
#pragma once

#include <filesystem>
#include <string_view>

#include "trace/base/result.h"

namespace shardlens::trace::store {

// Refuses a folder, and a file that is there unless it may be replaced. `example`: a good name.
base::Result<void> check_output(const std::filesystem::path& output, bool overwrite,
                                std::string_view example);

// Moves what is whole to its place; an `output` that came meanwhile is replaced only if it may be.
base::Result<void> publish_output(const std::filesystem::path& unfinished,
                                  const std::filesystem::path& output, bool overwrite);
// `code`: errno of the system call that failed.
tl::unexpected<base::Error> cannot_write(const std::filesystem::path& output, int code);

}  // namespace shardlens::trace::store
