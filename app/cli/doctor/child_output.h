// Runs a program to its end and takes what it prints. Blocks. Main thread.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "trace/base/result.h"

namespace shardlens::app::cli {

// Its standard error goes where ours goes, its temporary files into `temporary`. `go_on` is asked
// many times a second; false kills it and all that it started. Error kFailed then, and if it leaves
// with anything but 0.
trace::base::Result<std::string> run_and_read(const std::filesystem::path& program,
                                              const std::vector<std::string>& arguments,
                                              const std::filesystem::path& temporary,
                                              const std::function<bool()>& go_on);

}  // namespace shardlens::app::cli
