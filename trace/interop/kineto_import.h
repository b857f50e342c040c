// Turns traces of PyTorch's profiler into a run: one Kineto JSON file per rank, plain or gzip. Any
// thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trace/model/run_info.h"

namespace shardlens::trace::interop {

struct ImportOptions {
  // Of the run; "": what the files' names begin with, with a number where a run has that name.
  std::string name;
  // Where the run is made, a folder that takes the run's name; "": in the library.
  std::filesystem::path folder;
  bool overwrite = false;
  // From 0 to 1, on the caller's thread; false ends the import.
  std::function<bool(double)> progress;
  // Told of the run's folder before anything is in it: half made until `whole` is told, before the
  // runs that it replaces go.
  std::function<void(const std::filesystem::path&)> begun;
  std::function<void()> whole;
};

struct ImportedRun {
  std::filesystem::path folder;
  std::int64_t events = 0;
  std::vector<int> ranks;
  // "'worker0.json' was cut off after 1,234 events", "'worker0.json': 3 events were left out: …"
  std::vector<std::string> warnings;
};

// Whether a file begins as one of these traces does: JSON, or something compressed by gzip; or a
// folder that is no run's holds such files.
bool may_be_kineto(const std::filesystem::path& file);

// A folder among `files` stands for all .json and .json.gz in it. The run appears whole or not at
// all. Each file's rank is what its distributedInfo says; where
// none says so, files are ranks in their order, and of how many is known only if their collectives
// name them (else the run's world_size is 0). Time and memory grow with the events, whatever
// times and numbers stand in the files. Errors: kUsage for no files, files that are not of one job
// (which says why) or a taken name, told before any file is read; kForeign for what is no trace;
// kDamaged; those of writing; those of replacing a run, which say where the new one lies then.
base::Result<ImportedRun> import_kineto(std::span<const std::filesystem::path> files,
                                        const std::filesystem::path& runs_dir,
                                        const ImportOptions& options = {});

}  // namespace shardlens::trace::interop
