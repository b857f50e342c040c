// Which rank of a job a process is that was not started by us. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiler/nccl/nccl_plugin.h"
#include "trace/base/result.h"
#include "trace/model/events.h"

namespace shardlens::profiler::inject {

enum class RankSource : std::uint8_t {
  kLauncher,
  kCommunicator,     // NCCL's: no launcher told
  kOrderOfStarting,  // nobody did
};

struct RankIdentity {
  int rank = 0;
  int local_rank = trace::model::kNotKnown;
  int world_size = 0;        // 0: not known, or nobody else was numbered
  int local_world_size = 0;  // on this machine; as above
  bool is_alone = false;     // the launcher says that there is no other rank
  RankSource told_by = RankSource::kLauncher;
};

using VariableLookup = std::function<std::optional<std::string>(const std::string&)>;

// From the variables of torchrun, Slurm, Open MPI, MPICH or Intel MPI; none where none is set.
// Errors: a variable that is no number.
trace::base::Result<std::optional<RankIdentity>> rank_from_environment(
    const VariableLookup& lookup);

// Of the first communicator that has more than one rank: usually that of the whole job. None for
// one with a single rank, of which every process may have some.
std::optional<RankIdentity> rank_from_communicator(const nccl::CommunicatorPlace& place);

// What holds once a communicator tells more: the launcher's, unless the communicator has more ranks
// than that knew of, or as many in a worker of multiprocessing: variables are inherited.
std::optional<RankIdentity> rank_once_connected(const std::optional<RankIdentity>& known,
                                                const nccl::CommunicatorPlace& place,
                                                bool is_worker);

// Whether Python's multiprocessing started a process, as torch.multiprocessing.spawn does: it
// learns its rank from its arguments, which nobody else sees.
bool is_worker_of_multiprocessing(const std::vector<std::string>& arguments);
// Whether a program only starts ranks (torchrun, accelerate, deepspeed; with Python before it or
// not). It may ask CUDA how many GPUs there are, and must not take a rank's place for that.
bool starts_ranks(const std::vector<std::string>& arguments);
// This process's command line, its program first; empty where /proc does not tell it.
std::vector<std::string> own_arguments();

// Takes the rank's place in the run's folder for this process, so that no second one, say a child
// that inherited the variables, writes into the same file. Without a known rank, or where another
// has one that is not sure (a communicator's, or one among an unknown number): the first that is
// free.
// Error: a launcher's rank is taken; the message says by which process. If that has ended, as after
// a restart, a file beside the claim says so.
trace::base::Result<RankIdentity> claim_rank(const std::filesystem::path& run_folder,
                                             std::optional<RankIdentity> known);
// Whether a process other than this one has the rank's place.
bool is_claimed_by_another(const std::filesystem::path& run_folder, int rank);
// Says in the claim, for `shardlens record`, how many records the rank's file lacks: a disk that is
// full has the room for it where the claim lies already.
void tell_unwritten(const std::filesystem::path& run_folder, int rank, std::int64_t records);

}  // namespace shardlens::profiler::inject
