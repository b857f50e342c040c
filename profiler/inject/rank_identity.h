// Which rank of a job a process is that was not started by us. Any thread.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trace/model/result.h"

namespace shardlens::profiler {

struct RankIdentity {
  int rank = 0;
  int local_rank = 0;
  int world_size = 0;        // 0: not known
  int local_world_size = 0;  // on this machine; as above
  bool is_guessed = false;   // no launcher told: in the order of starting
};

using VariableLookup = std::function<std::optional<std::string>(const std::string&)>;

// From the variables of torchrun, Slurm, Open MPI, MPICH or Intel MPI; none where none is set.
// Errors: a variable that is no number.
trace::Result<std::optional<RankIdentity>> rank_from_environment(const VariableLookup& lookup);

// Whether a program only starts ranks (torchrun, accelerate, deepspeed; with Python before it or
// not). It may ask CUDA how many GPUs there are, and must not take a rank's place for that.
bool starts_ranks(const std::vector<std::string>& arguments);
// This process's command line, its program first; empty where /proc does not tell it.
std::vector<std::string> own_arguments();

// Takes the rank's place in the run's folder for this process, so that no second one, say a child
// that inherited the variables, writes into the same file. Without a known rank: the first that is
// free. Error: the rank is taken; the message says by which process.
trace::Result<RankIdentity> claim_rank(const std::filesystem::path& run_folder,
                                       std::optional<RankIdentity> known);

}  // namespace shardlens::profiler
