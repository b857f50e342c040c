// Where pack and export may write. Any thread.
#pragma once

#include <filesystem>
#include <string_view>

#include "trace/base/result.h"

namespace shardlens::trace::store {

// Refuses a folder, and a file that is there unless it may be replaced. `example`: a good name.
base::Result<void> check_output(const std::filesystem::path& output, bool overwrite,
                                std::string_view example);

}  // namespace shardlens::trace::store
