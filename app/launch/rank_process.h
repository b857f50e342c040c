// One rank as a child process. All functions from the thread that spawned it: the kernel sends the
// rank its death signal when that thread ends.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/launch/rank_exit.h"
#include "trace/base/file_system.h"
#include "trace/base/result.h"

namespace shardlens::app::launch {

struct RankCommand {
  int rank = 0;
  std::filesystem::path program;
  std::vector<std::string> arguments;    // without the program's name
  std::vector<std::string> environment;  // "NAME=value"
  std::filesystem::path log;             // standard output and error
};

class RankProcess {
 public:
  // Gives the rank a descriptor in which to tell its outcome.
  static trace::base::Result<RankProcess> spawn(const RankCommand& command);
  RankProcess(RankProcess&& other) noexcept;
  RankProcess& operator=(RankProcess&&) = delete;
  ~RankProcess();  // kills it if it still runs, and takes its exit

  // Readable once the process has ended; -1 where the kernel has no such descriptors.
  int descriptor() const { return descriptor_.get(); }
  bool running() const { return !exit_.has_value(); }
  const std::optional<RankExit>& exit() const { return exit_; }
  // What it has told of itself so far.
  std::optional<trace::model::RankOutcome> told() const {
    return trace::model::read_outcome(outcome_.get());
  }

  void send(int signal);
  // Takes the exit if there is one, with what the rank has told; true if the process has ended just
  // now.
  bool reap();

 private:
  RankProcess(int rank, pid_t process, trace::base::Descriptor outcome);

  int rank_ = 0;
  pid_t process_ = -1;
  trace::base::Descriptor descriptor_;
  trace::base::Descriptor outcome_;  // memory, so that no disk is needed
  std::optional<RankExit> exit_;
};

}  // namespace shardlens::app::launch
