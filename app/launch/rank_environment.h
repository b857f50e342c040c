// The environment in which a rank starts: torchrun's contract and what is ours. Any thread.
#pragma once

#include <filesystem>
#include <string>
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

// This process's own.
std::vector<std::string> own_environment();

}  // namespace shardlens::app::launch
