// What is known of a run's collectives beside the run itself: `shardlens calibrate` and tables of
// nccl-tests, kept in its library. Waits for the disk; any thread.
#pragma once

#include <filesystem>
#include <vector>

#include "trace/base/result.h"
#include "trace/model/run_info.h"
#include "trace/predict/costs/collective_costs.h"

namespace shardlens::app::session {

// Of the same machine, device and link, for groups of any number of ranks. Error: a file that is
// kept is damaged or foreign, by name.
trace::base::Result<trace::predict::CollectiveCosts> known_costs(
    const trace::model::RunInfo& info, const std::vector<trace::model::RankInfo>& ranks,
    const std::filesystem::path& library);

}  // namespace shardlens::app::session
