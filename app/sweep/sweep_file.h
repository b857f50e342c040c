// A sweep on disk: <library>/.sweeps/<name>/sweep.json says what it runs, and which run is which
// point's. Replaced as a whole, so that a crash leaves the one before. One thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/sweep/sweep_results.h"
#include "trace/base/result.h"

namespace shardlens::app::sweep {

struct SweepRecord {
  SweepPlan plan;
  std::int64_t created_ns = 0;
  SweepResults runs;  // as they are read, those that were done have no measure yet
};

// Locked while a sweep runs.
std::filesystem::path sweep_folder(const std::filesystem::path& runs_dir, const std::string& name);
bool has_sweep(const std::filesystem::path& runs_dir, const std::string& name);
std::vector<std::string> sweep_names(const std::filesystem::path& runs_dir);  // sorted

// `wanted`, or with a number behind it: a name that is free, or that of the same sweep, which goes
// on.
std::string free_name(const std::string& wanted, const SweepPoints& points,
                      const std::filesystem::path& runs_dir);

// Errors: kMissing names those that are there; kDamaged, kOtherVersion.
trace::base::Result<SweepRecord> read_sweep(const std::filesystem::path& runs_dir,
                                            const std::string& name);
// On the disk when it returns. Its folder must be there. Errors: kDiskFull, kIo.
trace::base::Result<void> write_sweep(const std::filesystem::path& runs_dir,
                                      const SweepRecord& record);

// `text` as read from `source`.
trace::base::Result<SweepRecord> parse_sweep(const std::string& text, const std::string& source);

}  // namespace shardlens::app::sweep
