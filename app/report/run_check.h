// All that `verify` looks at: the files themselves, and whether `report` can be made of them. Any
// thread.
#pragma once

#include <filesystem>

#include "trace/base/result.h"
#include "trace/store/upkeep/verify.h"

namespace shardlens::app::report {

// Errors: those of verify_run().
trace::base::Result<trace::store::VerifyReport> check_run(
    const std::filesystem::path& run, const trace::store::VerifyOptions& options = {});

}  // namespace shardlens::app::report
