#include "profiler/inject/rank_identity.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include "trace/base/file_system.h"
#include "trace/base/text.h"

namespace shardlens::profiler::inject {
namespace {

using trace::base::ErrorKind;
using trace::base::Result;

// A run on more ranks than this would have a launcher that tells them.
constexpr int kMostGuessed = 1024;

struct Launcher {
  const char* rank;
  const char* local_rank;
  const char* world_size;
  const char* local_world_size;
};
// In the order in which they are believed: torchrun's own come first where Slurm started torchrun.
constexpr std::array kLaunchers{
    Launcher{"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"},
    Launcher{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE",
             "OMPI_COMM_WORLD_LOCAL_SIZE"},
    Launcher{"PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE", "MPI_LOCALNRANKS"},
    // Of the step: a batch script, which is none, has SLURM_PROCID and the job's SLURM_NTASKS, too,
    // and so has all that it starts.
    Launcher{"SLURM_PROCID", "SLURM_LOCALID", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS_PER_NODE"},
};

// Commands, and modules behind "python -m".
constexpr std::array kStarters{std::string_view("torchrun"),
                               std::string_view("torch.distributed.run"),
                               std::string_view("torch.distributed.launch"),
                               std::string_view("accelerate"),
                               std::string_view("accelerate.commands.launch"),
                               std::string_view("deepspeed"),
                               std::string_view("deepspeed.launcher.runner"),
                               std::string_view("deepspeed.launcher.launch")};

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// What Python runs, or the program itself.
std::string_view program_of(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return "";
  const std::string_view program = file_name(arguments.front());
  if (!program.starts_with("python")) return program;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "-m" && i + 1 < arguments.size()) return arguments[i + 1];
    if (argument == "-c") return "";
    if (!argument.starts_with('-')) return file_name(argument);
    if (argument == "-X" || argument == "-W") ++i;  // its value
  }
  return "";
}

Result<int> number(const char* name, const std::optional<std::string>& text, int missing) {
  if (!text || text->empty()) return missing;
  const auto value = trace::base::number_from<int>(*text);
  if (value && *value >= 0) return *value;
  return trace::base::fail(ErrorKind::kUsage, std::string(name) + " is \"" + *text +
                                                  "\", which is no number from 0 on.");
}

std::filesystem::path claim_file(const std::filesystem::path& folder, int rank) {
  return folder / ("rank_" + std::to_string(rank) + ".claim");
}

std::filesystem::path restart_file(const std::filesystem::path& folder, int rank) {
  return folder / ("rank_" + std::to_string(rank) + ".restarted");
}

// Of this machine. What is no number may be about to be written.
bool lives(const std::string& process) {
  const auto number = trace::base::number_from<pid_t>(process);
  return !number || kill(*number, 0) == 0 || errno != ESRCH;
}

// False: somebody else has it.
Result<bool> try_claim(const std::filesystem::path& file, int world_size) {
  const int descriptor = open(file.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
  if (descriptor < 0 && errno == EEXIST) return false;
  if (descriptor < 0) {
    return trace::base::fail(
        ErrorKind::kIo, "\"" + file.string() + "\" cannot be made: " + std::strerror(errno) + ".");
  }
  const std::string text = std::to_string(getpid()) + "\n" + std::to_string(world_size) + "\n";
  const bool written = write(descriptor, text.data(), text.size()) == std::ssize(text);
  close(descriptor);
  if (written) return true;
  return trace::base::fail(ErrorKind::kIo,
                           "\"" + file.string() + "\" cannot be written: is the disk full?");
}

Result<RankIdentity> claim_free(const std::filesystem::path& folder) {
  for (int rank = 0; rank < kMostGuessed; ++rank) {
    TRY_ASSIGN(const bool is_ours, try_claim(claim_file(folder, rank), 0));
    if (is_ours) return RankIdentity{.rank = rank, .told_by = RankSource::kOrderOfStarting};
  }
  return trace::base::fail(ErrorKind::kFailed, "More than " + std::to_string(kMostGuessed) +
                                                   " processes recorded without a launcher that "
                                                   "numbers them.");
}

Result<RankIdentity> claim_known(const std::filesystem::path& folder, const RankIdentity& known) {
  const auto file = claim_file(folder, known.rank);
  TRY_ASSIGN(const bool is_ours, try_claim(file, known.world_size));
  if (is_ours) return known;
  const std::string owner = trace::base::first_line(file), own = std::to_string(getpid());
  const bool owner_lives = lives(owner);
  // Several groups may each have this rank, and several processes the variables of one.
  const bool may_be_inherited = known.world_size == 0 && !known.is_alone && owner_lives;
  if (known.told_by == RankSource::kCommunicator || may_be_inherited) return claim_free(folder);
  const std::string rank = "Rank " + std::to_string(known.rank);
  if (owner_lives) {
    return trace::base::fail(ErrorKind::kFailed, rank + " is recorded from process " + owner +
                                                     " already; process " + own +
                                                     ", which has the same rank, is left out.");
  }
  // What its file has stays: the steps of another start are others.
  std::ofstream(restart_file(folder, known.rank));
  return trace::base::fail(ErrorKind::kFailed,
                           rank + " was recorded from process " + owner +
                               ", which has ended; process " + own +
                               " has taken its place and is not recorded. To record what a "
                               "restarted program does, start it again with shardlens record.");
}

}  // namespace

Result<std::optional<RankIdentity>> rank_from_environment(const VariableLookup& lookup) {
  for (const Launcher& launcher : kLaunchers) {
    const auto rank = lookup(launcher.rank);
    if (!rank) continue;
    RankIdentity identity;
    TRY_ASSIGN(identity.rank, number(launcher.rank, rank, 0));
    TRY_ASSIGN(identity.local_rank,
               number(launcher.local_rank, lookup(launcher.local_rank), trace::model::kNotKnown));
    TRY_ASSIGN(identity.world_size, number(launcher.world_size, lookup(launcher.world_size), 0));
    TRY_ASSIGN(identity.local_world_size,
               number(launcher.local_world_size, lookup(launcher.local_world_size), 0));
    // Who is alone has not been numbered among others, but may start them and pass this on.
    identity.is_alone = identity.world_size == 1;
    if (identity.is_alone) identity.world_size = 0;
    return identity;
  }
  return std::nullopt;
}

std::optional<RankIdentity> rank_from_communicator(const nccl::CommunicatorPlace& place) {
  if (place.ranks < 2) return std::nullopt;
  RankIdentity identity{
      .rank = place.rank, .world_size = place.ranks, .told_by = RankSource::kCommunicator};
  if (place.nodes == 1) {
    identity.local_rank = place.rank;
    identity.local_world_size = place.ranks;
  }
  return identity;
}

std::optional<RankIdentity> rank_once_connected(const std::optional<RankIdentity>& known,
                                                const nccl::CommunicatorPlace& place,
                                                bool is_worker) {
  const auto of_communicator = rank_from_communicator(place);
  if (!known || !of_communicator) return of_communicator ? of_communicator : known;
  const bool is_told =
      known->world_size > place.ranks || (known->world_size == place.ranks && !is_worker);
  return is_told ? known : of_communicator;
}

// "python -c 'from multiprocessing.spawn import spawn_main; …'", and the same of forkserver.
bool is_worker_of_multiprocessing(const std::vector<std::string>& arguments) {
  return std::ranges::any_of(arguments, [](const std::string& argument) {
    return argument.starts_with("from multiprocessing.spawn import") ||
           argument.starts_with("from multiprocessing.forkserver import");
  });
}

bool starts_ranks(const std::vector<std::string>& arguments) {
  return std::ranges::find(kStarters, program_of(arguments)) != kStarters.end();
}

std::vector<std::string> own_arguments() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(in, argument, '\0');) arguments.push_back(argument);
  return arguments;
}

Result<RankIdentity> claim_rank(const std::filesystem::path& run_folder,
                                std::optional<RankIdentity> known) {
  return known ? claim_known(run_folder, *known) : claim_free(run_folder);
}

bool is_claimed_by_another(const std::filesystem::path& run_folder, int rank) {
  const auto file = claim_file(run_folder, rank);
  std::error_code error;
  return std::filesystem::exists(file, error) &&
         trace::base::first_line(file) != std::to_string(getpid());
}

void tell_unwritten(const std::filesystem::path& run_folder, int rank, std::int64_t records) {
  // Nobody is left to hear of a failure.
  std::ofstream(claim_file(run_folder, rank), std::ios::app) << records << "\n";
}

}  // namespace shardlens::profiler::inject
