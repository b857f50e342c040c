// Whether the disk of the first rank is there for all that are to write to it: a checkpoint and a
// model are files that ranks write together. The training thread.
#pragma once

#include <filesystem>

#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trainer/comm/communicator.h"
#include "trainer/strategy/strategy.h"

namespace shardlens::trainer::saving {

// Before the first step, so that nothing is trained that could not be saved. All ranks call it.
// Error kUsage, the same on all: names a rank that does not see rank 0's folder of the run and its
// machine. Throws c10::Error when a collective fails.
trace::base::Result<void> check_shared_disk(const trace::job::Settings& settings,
                                            const std::filesystem::path& run_folder,
                                            const strategy::Strategy& strategy,
                                            comm::Communicator& communicator);

}  // namespace shardlens::trainer::saving
