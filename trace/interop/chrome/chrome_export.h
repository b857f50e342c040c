// A run as the JSON that Perfetto, chrome://tracing and what reads PyTorch's traces (Holistic Trace
// Analysis, TensorBoard) open: Chrome's trace events with the categories and arguments of Kineto
// (libkineto/src/output_json.cpp of PyTorch 2.11). Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <utility>
#include <vector>

#include "trace/base/result.h"

namespace shardlens::trace::interop {

struct ChromeExportOptions {
  // Of what is written, both included: what begins while one of these steps goes on on its rank.
  std::pair<std::int64_t, std::int64_t> steps{INT64_MIN, INT64_MAX};
  bool overwrite = false;   // replaces files that are there
  bool with_paths = false;  // keeps paths and host names within names
  // From 0 to 1, on the caller's thread; false ends it.
  std::function<bool(double)> progress;
  // Told of each file under the name that it has until all are whole.
  std::function<void(const std::filesystem::path&)> begun;
};

struct ChromeExport {
  std::vector<std::filesystem::path> files;
  std::int64_t events = 0;  // without names of tracks and arrows
};

// One file of all ranks.
bool is_chrome_file(const std::filesystem::path& output);

// `output`: a file whose name ends in .json or .json.gz holds all ranks, which Perfetto shows below
// each other; anything else is a folder (made if needed) with a file for each rank, as PyTorch's
// profiler writes them. They appear together, once all are complete, or not at all. Memory does not
// grow with the run. Errors: kUsage for files that exist and for steps that the run does not have;
// kDiskFull, kIo; those of the reader.
base::Result<ChromeExport> export_chrome_trace(const std::filesystem::path& run,
                                               const std::filesystem::path& output,
                                               const ChromeExportOptions& options = {});

}  // namespace shardlens::trace::interop
