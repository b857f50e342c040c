// Runs a program to its end and takes what it prints. Blocks. Main thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trace/model/result.h"

namespace shardlens::app {

// Its standard error goes where ours goes. Error kFailed if it leaves with anything but 0.
trace::Result<std::string> run_and_read(const std::filesystem::path& program,
                                        const std::vector<std::string>& arguments);

}  // namespace shardlens::app
