// What a library of runs remembers beside its runs: the number that each run was given once, and
// the pinned baseline. A hidden SQLite file in the library's folder, since several programs look at
// it at once; runs that are copied elsewhere get a number there. Any thread; waits for the disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "trace/base/result.h"

namespace shardlens::trace::store {

inline constexpr std::string_view kLibraryFile = ".library.sqlite";

// Which run it is, whatever it is called: another one may lie under its file name later.
struct RunPlace {
  std::string file_name;  // within the library
  std::int64_t start_ns = 0;
};

// The numbers of these runs, from 1; those without get the next ones in this order. A number is
// never given twice, whatever was deleted.
struct RunNumbers {
  std::vector<std::int64_t> numbers;
  std::int64_t next = 1;  // of the next new run
};
base::Result<RunNumbers> number_runs(const std::filesystem::path& runs_dir,
                                     std::span<const RunPlace> oldest_first);

// The file name of the run that others are compared with until another is chosen; "": none.
base::Result<std::string> pinned_baseline(const std::filesystem::path& runs_dir);
base::Result<void> pin_baseline(const std::filesystem::path& runs_dir,
                                const std::string& file_name);

}  // namespace shardlens::trace::store
