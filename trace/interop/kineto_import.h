// Turns traces of PyTorch's profiler into a run: one Kineto JSON file per rank, plain or gzip. Any
// thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "trace/model/result.h"
#include "trace/model/run_info.h"

namespace shardlens::trace {

struct ImportOptions {
  std::string name;  // of the run; "": after the first file
  bool overwrite = false;
  // From 0 to 1, on the caller's thread; false ends the import.
  std::function<bool(double)> progress;
};

struct ImportedRun {
  std::filesystem::path folder;
  std::int64_t events = 0;
  std::vector<int> ranks;
  std::vector<std::string> warnings;  // "worker0.json was cut off after 1,234 events", …
};

// Whether a file begins as one of these traces does: JSON, or something compressed by gzip.
bool may_be_kineto(const std::filesystem::path& file);

// The run appears whole or not at all. Each file's rank is what its distributedInfo says; where
// none says so, files are ranks in their order. Errors: kUsage for no files, ranks that meet or a
// taken name; kForeign for what is no trace; kDamaged; those of writing.
Result<ImportedRun> import_kineto(std::span<const std::filesystem::path> files,
                                  const std::filesystem::path& runs_dir,
                                  const ImportOptions& options = {});

}  // namespace shardlens::trace
