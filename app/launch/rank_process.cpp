#include "app/launch/rank_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "trace/base/spawn.h"

namespace shardlens::app::launch {
namespace {

// By number: glibc 2.36 declares pidfd_open without C linkage.
int open_process_descriptor(pid_t process) {
  return static_cast<int>(syscall(SYS_pidfd_open, process, 0));
}

class SpawnFiles {
 public:
  // `outcome` becomes kOutcome in the child; -1: none.
  SpawnFiles(const std::filesystem::path& log, int outcome) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0644);
    posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
    if (outcome >= 0) posix_spawn_file_actions_adddup2(&actions_, outcome, kOutcome);
    // The launcher's other files are not the rank's.
    posix_spawn_file_actions_addclosefrom_np(&actions_, outcome >= 0 ? kOutcome + 1 : kOutcome);
  }
  ~SpawnFiles() { posix_spawn_file_actions_destroy(&actions_); }
  SpawnFiles(const SpawnFiles&) = delete;
  SpawnFiles& operator=(const SpawnFiles&) = delete;
  const posix_spawn_file_actions_t* get() const { return &actions_; }

  static constexpr int kOutcome = STDERR_FILENO + 1;

 private:
  posix_spawn_file_actions_t actions_;
};

}  // namespace

trace::base::Result<RankProcess> RankProcess::spawn(const RankCommand& command) {
  std::vector<std::string> arguments = {command.program.string()};
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  std::vector<std::string> environment = command.environment;
  // In its own group: Ctrl-C is for the launcher, which then stops all ranks after the same step.
  const trace::base::SpawnAttributes attributes(/*in_own_group=*/true);
  trace::base::Descriptor outcome(memfd_create("rank outcome", MFD_CLOEXEC));
  if (outcome.is_open()) {
    environment.push_back(std::string(trace::model::kOutcomeVariable) + "=" +
                          std::to_string(SpawnFiles::kOutcome));
  }
  const SpawnFiles files(command.log, outcome.get());
  pid_t process = -1;
  const int error = posix_spawn(&process, command.program.c_str(), files.get(), attributes.get(),
                                trace::base::pointers_to(arguments).data(),
                                trace::base::pointers_to(environment).data());
  if (error != 0) {
    return trace::base::fail(trace::base::ErrorKind::kIo,
                             "Rank " + std::to_string(command.rank) +
                                 " could not be started: " + std::strerror(error) + " (" +
                                 command.program.string() + ", log " + command.log.string() + ").");
  }
  trace::base::limit_open_files_as_before(process);
  return RankProcess(command.rank, process, std::move(outcome));
}

RankProcess::RankProcess(int rank, pid_t process, trace::base::Descriptor outcome)
    : rank_(rank),
      process_(process),
      descriptor_(open_process_descriptor(process)),
      outcome_(std::move(outcome)) {}

RankProcess::RankProcess(RankProcess&& other) noexcept
    : rank_(other.rank_),
      process_(std::exchange(other.process_, -1)),
      descriptor_(std::move(other.descriptor_)),
      outcome_(std::move(other.outcome_)),
      exit_(std::move(other.exit_)) {}

RankProcess::~RankProcess() {
  if (process_ >= 0 && running()) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
}

void RankProcess::send(int signal) {
  // Until its exit is taken the number cannot belong to another process.
  if (running()) kill(process_, signal);
}

bool RankProcess::reap() {
  if (!running()) return false;
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG) != 0 ||
      info.si_pid == 0) {
    return false;
  }
  RankExit exit;
  exit.rank = rank_;
  exit.time = std::chrono::steady_clock::now();
  if (info.si_code == CLD_EXITED) {
    exit.code = info.si_status;
  } else {
    exit.signal = info.si_status;
  }
  exit.outcome = told();
  exit_ = exit;
  descriptor_.close();
  return true;
}

}  // namespace shardlens::app::launch
