#include "trace/store/run/run_files.h"

#include <optional>
#include <system_error>

#include "trace/store/run/rank_files.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::trace {

namespace fs = std::filesystem;

Result<std::vector<TraceFile>> open_run_files(const fs::path& run,
                                              std::vector<std::string>* left_out) {
  TRY(read_run_info(run));
  std::vector<TraceFile> files;
  std::error_code error;
  if (!fs::is_directory(run, error)) {
    TRY_ASSIGN(TraceFile packed, TraceFile::open(run));
    files.push_back(std::move(packed));
    return files;
  }
  TRY_ASSIGN(TraceFile run_file, TraceFile::open(run / kRunFile));
  files.push_back(std::move(run_file));
  std::optional<Error> problem;
  for (const auto& [rank, path] : rank_files(run)) {
    auto file = TraceFile::open(path);
    if (file) {
      files.push_back(std::move(*file));
      continue;
    }
    if (left_out == nullptr) return tl::make_unexpected(file.error());
    left_out->push_back(file.error().message);
    if (!problem) problem = file.error();
  }
  if (problem && files.size() == 1) return tl::make_unexpected(*problem);
  return files;
}

std::vector<Database*> databases_of(std::vector<TraceFile>& files) {
  std::vector<Database*> databases;
  for (TraceFile& file : files) databases.push_back(&file.database());
  return databases;
}

}  // namespace shardlens::trace
