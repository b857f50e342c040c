// All that `verify` looks at: the files themselves, and whether `report` can be made of them. Any
// thread.
#pragma once

#include <filesystem>

#include "trace/base/result.h"
#include "trace/store/upkeep/verify.h"

namespace shardlens::app {

// Errors: those of verify_run().
trace::Result<trace::VerifyReport> check_run(const std::filesystem::path& run,
                                             const trace::VerifyOptions& options = {});

}  // namespace shardlens::app
