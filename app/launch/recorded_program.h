// Another program that is recorded while it runs: CUDA, NVTX and NCCL load our library into its
// processes, which write a run as our own ranks do. One thread.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "trace/base/file_system.h"
#include "trace/base/result.h"
#include "trace/model/run_info.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::launch {

struct RecordRequest {
  std::vector<std::string> command;  // the program, found in PATH, and its arguments
  std::string name;                  // of the run; "": that of the program, numbered if taken
  std::string steps;                 // as the setting `record`; "": every step
  std::filesystem::path runs_dir = "runs";
  std::int64_t limit_mb = 2048;  // per rank
  bool overwrite = false;
  bool output_to_stderr = false;  // what the program writes to standard output
};

class RecordedProgram {
 public:
  // Errors: no such program, a taken name, a profiler that has taken CUDA's or NVTX's place for
  // tools (kUsage); no library (kMissing).
  static trace::base::Result<std::unique_ptr<RecordedProgram>> start(const RecordRequest& request);
  // Kills the program if it still runs.
  ~RecordedProgram();
  RecordedProgram(const RecordedProgram&) = delete;
  RecordedProgram& operator=(const RecordedProgram&) = delete;

  const std::filesystem::path& folder() const { return made_.folder; }
  const trace::model::RunInfo& run() const { return run_; }
  void send(int signal);
  // Ends it with all processes that are recorded: torchrun's workers lie in sessions of their own.
  void kill_all();
  // True once the program has ended. Tells the run's file which ranks there are.
  bool poll();
  // After poll() said so: waits a little for processes that outlive the program, and writes how the
  // run ended; only now does the run go that it replaces. `stopped`: by the user. Error kMissing:
  // it used nothing that can be recorded; its folder is gone then.
  trace::base::Result<void> conclude(bool stopped);
  // What of that did not come about; run() knows how it ended.
  const std::vector<std::string>& save_errors() const { return save_errors_; }
  // 0: it ended well.
  int exit_code() const { return exit_code_; }

 private:
  RecordedProgram(trace::model::RunInfo run, trace::store::ClaimedRun made, pid_t process);
  struct Claim {
    int rank = 0;
    pid_t process = 0;
    int world_size = 0;
    std::int64_t unwritten = 0;
    bool was_restarted = false;  // by another process, which is not recorded
  };
  std::vector<Claim> claims() const;
  bool adopt_ranks();
  std::int64_t count_unwritten() const;
  void name_unwritten();
  void name_restarts();
  void name_unclosed();
  void name_steps_apart();
  void tell_incomplete(const std::string& why);
  void wait_for_ranks() const;

  trace::model::RunInfo run_;
  trace::store::ClaimedRun made_;
  trace::base::ReservedRoom room_for_end_;  // to say how it ended although the disk is full
  pid_t process_;
  bool has_ended_ = false;
  int exit_code_ = 0;
  int exit_signal_ = 0;
  std::vector<std::string> save_errors_;
};

// Of the recorded program, from ours. `inherited`: "NAME=value" texts.
trace::base::Result<std::vector<std::string>> recording_environment(
    std::vector<std::string> inherited, const RecordRequest& request,
    const std::filesystem::path& folder, const std::filesystem::path& library);

}  // namespace shardlens::app::launch
