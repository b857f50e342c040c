// The costs that a library of runs keeps beside its runs, for whoever predicts. Any thread; waits
// for the disk.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "trace/base/result.h"
#include "trace/predict/costs/costs_file.h"

namespace shardlens::trace::predict {

// In the library's folder. Holds no run, so that the library passes it over.
inline constexpr std::string_view kCostsFolder = ".shardlens-costs";

// Replaces what the same source had measured of the same setup, and from nccl-tests of the same
// functions. Returns the file. Errors: kIo, kDiskFull.
base::Result<std::filesystem::path> keep_costs(const std::filesystem::path& library,
                                               const CostsFile& file);

// What is kept for this setup: the newest calibration, then what others know beyond it. None:
// nothing is. Error: a file in the folder is damaged or foreign, by name; one of another version of
// the format is passed over.
base::Result<std::optional<CollectiveCosts>> costs_for(const CommunicationSetup& setup,
                                                       const std::filesystem::path& library);

}  // namespace shardlens::trace::predict
