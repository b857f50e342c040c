// Merges a run's folder into one file, to send or archive. Any thread.
#pragma once

#include <filesystem>
#include <functional>

#include "trace/base/result.h"

namespace shardlens::trace::store {

struct PackOptions {
  bool overwrite = false;  // replace a file that is there
  // Host names, process ids, absolute paths and the recorded program's command line, too.
  bool with_paths = false;
  // From 0 to 1, on the caller's thread, every few milliseconds; false ends it.
  std::function<bool(double)> progress;
};

// `output_file` appears complete or not at all. A run that is still recorded is packed as it is
// now. Memory does not grow with the run. Errors: kUsage if the file exists or `run_folder` is
// packed already; kFailed if it was stopped; those of the reader.
base::Result<void> pack_run(const std::filesystem::path& run_folder,
                            const std::filesystem::path& output_file,
                            const PackOptions& options = {});

}  // namespace shardlens::trace::store
