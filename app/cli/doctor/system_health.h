// Checks of what the kernel offers. Pure functions, any thread.
#pragma once

#include "app/cli/doctor/health_check.h"

namespace shardlens::app::cli {

HealthCheck check_shared_memory(const SystemFacts& facts, const std::filesystem::path& folder);
HealthCheck check_open_files(const SystemFacts& facts);
HealthCheck check_locked_memory(const SystemFacts& facts);
HealthCheck check_clock(const SystemFacts& facts);

}  // namespace shardlens::app::cli
