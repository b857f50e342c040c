// The environment in which a rank starts: torchrun's contract and what is ours; the file through
// which the ranks of a job meet. Any thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trace/model/run_info.h"

namespace shardlens::app::launch {

struct RankPlace {
  int rank = 0;
  std::filesystem::path store_file;  // where ranks meet; fresh for every start
  int launcher_process = 0;
  int cores = 1;  // of this machine
};

// `inherited`: "NAME=value" texts. Variables of another launcher are left out.
std::vector<std::string> rank_environment(const std::vector<std::string>& inherited,
                                          const trace::model::RunInfo& run, const RankPlace& place);

// Null: there is none of that name.
const std::string* find_variable(const std::vector<std::string>& environment,
                                 std::string_view name);
// This process's own.
std::vector<std::string> own_environment();

// A path that was never used before, which c10d's FileStore needs.
std::filesystem::path fresh_store_file(const std::filesystem::path& run_folder);
// Removes those in the runs of a library whose launcher was killed before it could.
void remove_abandoned_store_files(const std::filesystem::path& runs_dir);

}  // namespace shardlens::app::launch
