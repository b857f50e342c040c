// A made-up run of any size, for benchmarks and tests: what a recorder would have written of a GPU
// job, the same rows and events for the same options. Any thread; works on several itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "trace/base/result.h"

namespace shardlens::trace::synthetic {

struct SyntheticRunOptions {
  std::string name = "synthetic";
  int ranks = 8;
  std::int64_t events = 1'000'000;  // of all ranks together, rounded to whole steps
  std::uint64_t seed = 0;
  int threads = 0;  // 0: as many as there are cores
  bool overwrite = false;
  // From 0 to 1, on the caller's thread; false ends it.
  std::function<bool(double)> progress;
  // Told of the run's folder before anything is in it: half made until `whole` is told, before the
  // runs that it replaces go.
  std::function<void(const std::filesystem::path&)> begun;
  std::function<void()> whole;
};

struct SyntheticRun {
  std::filesystem::path folder;
  std::int64_t steps = 0;
  std::int64_t events = 0;
  double seconds = 0;  // it took to write them
};

// The run appears whole or not at all. Errors: kUsage for numbers out of range or a taken name;
// those of writing.
base::Result<SyntheticRun> generate_run(const std::filesystem::path& runs_dir,
                                        const SyntheticRunOptions& options);

}  // namespace shardlens::trace::synthetic
