// A job whose ranks measure what collectives cost instead of training: how it is started, and what
// its recording says. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>

#include "app/launch/job_request.h"
#include "app/launch/job_session.h"
#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trace/predict/costs/costs_file.h"

namespace shardlens::app::calibration {

// A run in `folder`, which is to be deleted afterwards: with all that decides how the job's ranks
// communicate, and nothing that belongs to its training alone.
launch::JobRequest calibration_request(const trace::job::Settings& settings,
                                       const std::filesystem::path& folder);
launch::JobOptions calibration_options(double seconds);

struct MeasuredCosts {
  trace::predict::CostsFile file;
  std::int64_t largest_bytes = 0;  // what would have been measured with enough time; 0: not known
};
// Errors: as RunReader's; kFailed, a rank recorded nothing that tells a transfer.
trace::base::Result<MeasuredCosts> read_calibration(const std::filesystem::path& run,
                                                    double seconds);

}  // namespace shardlens::app::calibration
