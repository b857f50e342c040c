// Writes a run as a new SQLite file of plain tables, for the sqlite3 shell, pandas and DuckDB: the
// row tables, and every bulk event as a row of `kernel`, `launch`, `op`, `copy` or `allocation`.
// Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "trace/base/result.h"

namespace shardlens::trace::store {

struct ExportOptions {
  bool overwrite = false;   // replace a file that is there
  bool with_paths = false;  // as of PackOptions
  // From 0 to 1, on the caller's thread; false ends it.
  std::function<bool(double)> progress;
};

struct ExportedRows {
  std::vector<std::pair<std::string, std::int64_t>> tables;  // with the rows of each
};

// `output` appears complete or not at all. Memory does not grow with the run. Errors: kUsage if the
// file exists; kDamaged for a chunk that cannot be read, kDiskFull, those of the reader.
base::Result<ExportedRows> export_rows(const std::filesystem::path& run,
                                       const std::filesystem::path& output,
                                       const ExportOptions& options = {});

}  // namespace shardlens::trace::store
