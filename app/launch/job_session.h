// A job: its ranks as child processes, from the first start to the last exit. Never blocks except
// where said; any thread may call, one at a time for start, wait and destruction.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/launch/job_request.h"
#include "app/launch/rank_exit.h"
#include "app/launch/rank_process.h"
#include "trace/base/file_system.h"
#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trace/model/run_info.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::launch {

struct JobOptions {
  std::filesystem::path rank_program;       // empty: shardlens-rank beside this program
  std::vector<std::string> rank_arguments;  // before "--run FOLDER"
  // From SIGTERM to SIGKILL when a user stops before a step is done.
  std::chrono::milliseconds stop_grace{20000};
  // The same once a rank has trained: until it tells another step, or another piece that is saved,
  // or has left. Whoever looks after the job sees a hang earlier and asks for the job's abort.
  std::chrono::milliseconds stop_patience{600000};
  std::chrono::milliseconds failure_grace{3000};  // the same once a rank has failed or hangs
  // What a rank said at last, from its log; tests replace it.
  std::function<LastWords(const std::filesystem::path&)> last_message = app::launch::last_message;
  // Called by the job's own thread whenever poll() has something new; must not end the session.
  std::function<void()> on_news = [] {};
};

struct JobStatus {
  enum class Phase { kRunning, kStopping, kEnded } phase = Phase::kRunning;
  trace::model::RunInfo run;          // status and reason are final once the job has ended
  bool is_measured = false;           // it saves nothing, whatever its settings say
  std::vector<RankExit> exits;        // so far, in order of time
  int failed_rank = -1;               // the rank that is the reason
  std::vector<std::string> log_tail;  // of that rank
  bool stopped_by_user = false;       // not by somebody who reached a rank past its launcher
  bool lost_checkpoint = false;       // then: what `checkpoint_on_stop` asks for is not there
  // What of the run's end could not be saved (a full disk): its files still say that it runs.
  std::vector<std::string> save_errors;

  // All of what the user asked for came about, or as far as the user stopped it.
  bool went_as_asked() const;
  bool saves_checkpoints() const {
    return !is_measured && trace::job::saves_checkpoints(run.settings);
  }
};

// What looks after a job needs of it: JobSession, or a fake in tests.
class RunningJob {
 public:
  virtual ~RunningJob() = default;
  virtual const std::filesystem::path& folder() const = 0;
  virtual JobStatus poll() const = 0;
  // All ranks leave after the same step and what they save then; the run is `stopped`.
  virtual void request_stop() = 0;
  // The same with less patience; the run is `failed` for the first reason given, say a hang, unless
  // a user has stopped it already.
  virtual void request_abort(std::string reason) = 0;
  // Ends the ranks at once.
  virtual void kill_now() = 0;
};

class JobSession final : public RunningJob {
 public:
  // Checks the request, creates the run's folder and starts the ranks on a thread of its own.
  // Errors: as check_job() and create_run(); kMissing without the rank program.
  static trace::base::Result<std::unique_ptr<JobSession>> start(const JobRequest& request,
                                                                JobOptions options = {});
  ~JobSession() override;  // kills ranks that still run; blocks until they are gone
  JobSession(const JobSession&) = delete;
  JobSession& operator=(const JobSession&) = delete;

  const std::filesystem::path& folder() const override { return folder_; }
  JobStatus poll() const override;
  JobStatus wait();  // blocks until the job has ended

  void request_stop() override;
  void request_abort(std::string reason) override;
  void kill_now() override;

 private:
  JobSession(trace::model::RunInfo run, bool is_measured, std::int64_t steps_before,
             trace::store::ClaimedRun made, JobOptions options);
  void supervise();
  void spawn_ranks();
  void wait_for_news();
  void take_exits();
  void act();
  void tell_ranks_to_leave(std::chrono::milliseconds grace);
  void look_after_stop();
  void wait_for_steps();
  bool is_aborted() const;
  void finish();
  void conclude(JobStatus& status);
  void conclude_in_order(JobStatus& status) const;
  bool has_no_checkpoint(const std::vector<trace::model::ToldByRank>& told) const;
  void name_culprit(JobStatus& status) const;
  void save_end(JobStatus& status);
  void give_up(const std::string& problem);
  void publish_end(JobStatus status);
  bool any_running() const;
  void wake() const;

  const std::filesystem::path folder_;
  std::optional<trace::base::FolderLock> claim_;  // until the run has ended
  const JobOptions options_;
  const std::int64_t steps_before_;  // of the checkpoint that the ranks go on from
  const std::filesystem::path store_file_;
  trace::base::ReservedRoom room_for_end_;   // to say how the run ended although the disk is full
  trace::base::Descriptor wake_descriptor_;  // not open: the thread looks now and then
  std::atomic<bool> stop_requested_ = false;
  std::atomic<bool> kill_requested_ = false;

  mutable std::mutex mutex_;  // guards the two below
  JobStatus status_;
  std::string abort_reason_;

  // The supervising thread's own.
  std::vector<RankProcess> ranks_;
  std::string spawn_error_;
  bool told_to_leave_ = false;
  bool told_by_user_ = false;
  bool is_killed_ = false;
  bool waits_in_vain_ = false;    // after the user's stop: a rank has failed or hangs
  std::int64_t steps_told_;       // the same: by the rank that trained most
  std::int64_t pieces_told_ = 0;  // the same: by the one that saved most
  std::chrono::steady_clock::time_point deadline_;

  // Ranks die with the thread that spawned them, so it lives until the last has ended.
  std::jthread thread_;
};

}  // namespace shardlens::app::launch
