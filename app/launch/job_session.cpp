#include "app/launch/job_session.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <system_error>
#include <utility>

#include "app/launch/program_files.h"
#include "app/launch/rank_environment.h"
#include "app/launch/rank_exit.h"
#include "trace/base/file_system.h"
#include "trace/base/wall_clock.h"
#include "trace/job/checkpoint/checkpoint_info.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::launch {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using std::chrono::steady_clock;
using trace::base::Result;

constexpr std::size_t kShownLogLines = 20;

// The thread leaves signals to the one that waits for them.
void block_all_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

std::vector<trace::model::ToldByRank> told_by_ranks(const JobStatus& status) {
  std::vector<trace::model::ToldByRank> told;
  for (const RankExit& exit : status.exits) {
    if (exit.outcome) told.push_back({exit.rank, *exit.outcome});
  }
  std::ranges::sort(told, {}, &trace::model::ToldByRank::rank);
  return told;
}

// Of ranks that were killed while they saved. None is left that still could.
void remove_half_saved(const fs::path& run) {
  std::error_code ignored;
  for (const fs::path& folder :
       {run, run / trace::job::kCheckpointsFolder, run / trace::job::kBestCheckpointFolder}) {
    for (const fs::path& entry : trace::base::entries_of(folder)) {
      const bool is_half =
          entry.filename().string().find(trace::job::kUnfinishedMark) != std::string::npos;
      if (is_half && fs::is_directory(entry, ignored)) fs::remove_all(entry, ignored);
    }
  }
}

Result<std::int64_t> steps_before(const trace::job::Settings& settings) {
  if (!trace::job::resumes(settings)) return 0;
  TRY_ASSIGN(const fs::path folder, trace::job::find_checkpoint(settings.resume));
  TRY_ASSIGN(const auto checkpoint, trace::job::read_checkpoint_info(folder));
  return checkpoint.step;
}

Result<trace::store::ClaimedRun> create_folder(const JobRequest& request,
                                               trace::model::RunInfo& run) {
  run.start_ns = trace::base::wall_clock_ns();
  remove_abandoned_store_files(request.runs_dir);
  const bool is_numbered = request.name.empty() || request.numbers_name;
  const auto taken = is_numbered         ? trace::store::TakenName::kIsNumbered
                     : request.overwrite ? trace::store::TakenName::kIsReplaced
                                         : trace::store::TakenName::kIsRefused;
  TRY_ASSIGN(auto made, trace::store::create_claimed_run(request.runs_dir, run, taken));
  std::error_code error;
  if (const auto placed = trace::store::take_place(made); !placed) {
    fs::remove_all(made.folder, error);
    return tl::make_unexpected(placed.error());
  }
  const fs::path absolute = fs::absolute(made.folder, error);
  if (!error) made.folder = absolute;
  return made;
}

}  // namespace

Result<std::unique_ptr<JobSession>> JobSession::start(const JobRequest& request,
                                                      JobOptions options) {
  const bool wants_gpu = request.settings.device != trace::job::DeviceChoice::kCpu;
  TRY_ASSIGN(trace::model::RunInfo run, check_job(request, wants_gpu ? probe_cuda() : CudaProbe{}));
  if (options.rank_program.empty()) {
    TRY_ASSIGN(options.rank_program, find_rank_program());
  }
  if (request.is_measured) options.rank_arguments.emplace_back("--save-nothing");
  TRY_ASSIGN(const std::int64_t steps, steps_before(request.settings));
  TRY_ASSIGN(trace::store::ClaimedRun made, create_folder(request, run));
  std::unique_ptr<JobSession> session(new JobSession(std::move(run), request.is_measured, steps,
                                                     std::move(made), std::move(options)));
  session->wake_descriptor_ = trace::base::Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  session->thread_ = std::jthread([job = session.get()] { job->supervise(); });
  return session;
}

bool JobStatus::went_as_asked() const {
  return run.status == trace::model::RunStatus::kDone ||
         (run.status == trace::model::RunStatus::kStopped && stopped_by_user && !lost_checkpoint);
}

JobSession::JobSession(trace::model::RunInfo run, bool is_measured, std::int64_t steps_before,
                       trace::store::ClaimedRun made, JobOptions options)
    : folder_(std::move(made.folder)),
      claim_(std::move(made.claim)),
      options_(std::move(options)),
      steps_before_(steps_before),
      store_file_(fresh_store_file(folder_)),
      room_for_end_(folder_),
      steps_told_(steps_before) {
  status_.run = std::move(run);
  status_.is_measured = is_measured;
}

JobSession::~JobSession() {
  kill_now();
  if (thread_.joinable()) thread_.join();
}

JobStatus JobSession::poll() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

JobStatus JobSession::wait() {
  if (thread_.joinable()) thread_.join();
  return poll();
}

void JobSession::request_stop() {
  stop_requested_ = true;
  wake();
}

void JobSession::request_abort(std::string reason) {
  {
    const std::lock_guard lock(mutex_);
    if (abort_reason_.empty()) abort_reason_ = std::move(reason);
  }
  wake();
}

void JobSession::kill_now() {
  stop_requested_ = true;
  kill_requested_ = true;
  wake();
}

void JobSession::wake() const {
  if (wake_descriptor_.is_open()) eventfd_write(wake_descriptor_.get(), 1);
}

// ---- the supervising thread ---------------------------------------------------------------------

void JobSession::supervise() {
  block_all_signals();
  try {
    spawn_ranks();
    while (any_running()) {
      wait_for_news();
      take_exits();
      act();
    }
    finish();
  } catch (const std::exception& error) {  // no memory, say: the job ends, not the program
    give_up(error.what());
  }
}

void JobSession::spawn_ranks() {
  const trace::model::RunInfo run = poll().run;
  const auto inherited = own_environment();
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  for (int rank = 0; rank < run.world_size; ++rank) {
    RankCommand command;
    command.rank = rank;
    command.program = options_.rank_program;
    command.arguments = options_.rank_arguments;
    command.arguments.insert(command.arguments.end(), {"--run", folder_.string()});
    command.environment = rank_environment(
        inherited, run,
        {.rank = rank, .store_file = store_file_, .launcher_process = getpid(), .cores = cores});
    command.log = trace::store::rank_log(folder_, rank);
    auto process = RankProcess::spawn(command);
    if (!process) {
      spawn_error_ = process.error().message;
      tell_ranks_to_leave(0ms);
      return;
    }
    ranks_.push_back(std::move(*process));
  }
}

void JobSession::wait_for_news() {
  std::vector<pollfd> descriptors = {{wake_descriptor_.get(), POLLIN, 0}};
  bool all_watched = wake_descriptor_.is_open();
  for (const auto& rank : ranks_) {
    if (!rank.running()) continue;
    all_watched = all_watched && rank.descriptor() >= 0;
    descriptors.push_back({rank.descriptor(), POLLIN, 0});
  }
  // Something may fall due only once ranks have failed or were told to leave.
  const bool waiting_for_time = told_to_leave_ || !poll().exits.empty();
  const int timeout_ms = waiting_for_time || !all_watched ? 20 : 1000;
  ::poll(descriptors.data(), descriptors.size(), timeout_ms);
  eventfd_t ignored = 0;
  if (wake_descriptor_.is_open()) eventfd_read(wake_descriptor_.get(), &ignored);
}

void JobSession::take_exits() {
  for (auto& rank : ranks_) {
    if (!rank.reap()) continue;
    RankExit exit = *rank.exit();
    exit.asked = told_to_leave_;
    LastWords last = options_.last_message(trace::store::rank_log(folder_, exit.rank));
    exit.message = std::move(last.text);
    exit.says_why = last.is_error;
    {
      const std::lock_guard lock(mutex_);
      status_.exits.push_back(std::move(exit));
    }
    options_.on_news();
  }
}

void JobSession::act() {
  const auto now = steady_clock::now();
  if (kill_requested_) {
    if (!is_killed_) {
      is_killed_ = true;
      told_by_user_ = told_by_user_ || !told_to_leave_;
      tell_ranks_to_leave(0ms);
    }
  } else if (!told_to_leave_) {
    const JobStatus status = poll();
    const RankExit* failure = first_failure(status.exits);
    if (failure != nullptr) {
      // Those that fail at the same time show who was first.
      if (now >= failure->time + kNearTie) tell_ranks_to_leave(options_.failure_grace);
    } else if (is_aborted()) {
      tell_ranks_to_leave(options_.failure_grace);
    } else if (stop_requested_) {
      told_by_user_ = true;
      tell_ranks_to_leave(options_.stop_grace);
    }
  } else if (told_by_user_ && !waits_in_vain_) {
    look_after_stop();
  }
  // Not `now`: the deadline of those that are to be killed is later than that.
  if (told_to_leave_ && steady_clock::now() >= deadline_) {
    for (auto& rank : ranks_) rank.send(SIGKILL);
  }
}

void JobSession::tell_ranks_to_leave(std::chrono::milliseconds grace) {
  if (!told_to_leave_) {
    for (auto& rank : ranks_) rank.send(SIGTERM);
  }
  told_to_leave_ = true;
  deadline_ = steady_clock::now() + grace;
  {
    const std::lock_guard lock(mutex_);
    if (status_.phase == JobStatus::Phase::kStopping) return;
    status_.phase = JobStatus::Phase::kStopping;
  }
  options_.on_news();
}

// Of a rank that is gone the others may hear only after the longest collective.
void JobSession::look_after_stop() {
  waits_in_vain_ = is_aborted() || std::ranges::any_of(poll().exits, &RankExit::failed_to_leave);
  if (waits_in_vain_) {
    deadline_ = std::min(deadline_, steady_clock::now() + options_.failure_grace);
  } else {
    wait_for_steps();
  }
}

// Ranks hear a stop at the end of a step, and a step and the save after it take what they take.
void JobSession::wait_for_steps() {
  std::int64_t steps = 0, pieces = 0;
  for (const auto& rank : ranks_) {
    const auto told = rank.told();
    if (!told) continue;
    steps = std::max(steps, told->steps);
    pieces = std::max(pieces, told->saved_pieces);
  }
  if (steps <= steps_told_ && pieces <= pieces_told_) return;
  steps_told_ = std::max(steps, steps_told_);
  pieces_told_ = std::max(pieces, pieces_told_);
  const std::chrono::seconds collective(poll().run.settings.collective_timeout_s);
  deadline_ =
      steady_clock::now() + std::max<std::chrono::milliseconds>(options_.stop_patience, collective);
}

bool JobSession::is_aborted() const {
  const std::lock_guard lock(mutex_);
  return !abort_reason_.empty();
}

bool JobSession::any_running() const {
  return std::ranges::any_of(ranks_, [](const auto& rank) { return rank.running(); });
}

void JobSession::finish() {
  ranks_.clear();
  remove_half_saved(folder_);
  std::error_code ignored;
  fs::remove(store_file_, ignored);
  JobStatus status = poll();
  conclude(status);
  status.run.end_ns = trace::base::wall_clock_ns();
  status.phase = JobStatus::Phase::kEnded;
  const auto merged = trace::store::checkpoint_run(folder_);
  name_culprit(status);
  if (!merged) status.save_errors.push_back(merged.error().message);
  save_end(status);
  publish_end(std::move(status));
}

// Where run.sqlite cannot take it, the log of the first rank may.
void JobSession::save_end(JobStatus& status) {
  room_for_end_.release();
  const auto saved = trace::store::update_run(folder_, status.run);
  if (saved) return;
  status.save_errors.push_back(saved.error().message);
  std::ofstream log(trace::store::rank_log(folder_, 0), std::ios::app);
  log << "launcher: the run is " << trace::model::to_string(status.run.status)
      << (status.run.reason.empty() ? "" : ": ") << status.run.reason << "\n";
}

void JobSession::name_culprit(JobStatus& status) const {
  if (status.run.status != trace::model::RunStatus::kFailed || !spawn_error_.empty()) return;
  const RankExit* failure = first_failure(status.exits);
  // Without a failure of a rank it was the watch over heartbeats that ended the job.
  if (failure != nullptr && !any_ran_out_of_patience(status.exits)) return;
  status.run.reason = with_culprit(status.run.reason, diagnose_files(folder_, status.run));
}

void JobSession::give_up(const std::string& problem) {
  ranks_.clear();  // kills those that still run
  JobStatus status = poll();
  status.run.status = trace::model::RunStatus::kFailed;
  status.run.reason = "the launcher failed: " + problem;
  status.run.end_ns = trace::base::wall_clock_ns();
  status.phase = JobStatus::Phase::kEnded;
  std::error_code ignored;
  fs::remove(store_file_, ignored);
  try {
    save_end(status);
  } catch (const std::exception& error) {
    status.save_errors.emplace_back(error.what());
  }
  publish_end(std::move(status));
}

void JobSession::publish_end(JobStatus status) {
  claim_.reset();
  {
    const std::lock_guard lock(mutex_);
    status_ = std::move(status);
  }
  options_.on_news();
}

void JobSession::conclude(JobStatus& status) {
  const std::string abort_reason = [&] {
    const std::lock_guard lock(mutex_);
    return told_by_user_ ? "" : abort_reason_;
  }();
  auto& run = status.run;
  run.status = trace::model::RunStatus::kFailed;
  if (!spawn_error_.empty()) {
    run.reason = spawn_error_;
  } else if (const RankExit* failure = first_failure(status.exits)) {
    run.reason = describe(*failure);
    status.failed_rank = failure->rank;
    status.log_tail = log_tail(trace::store::rank_log(folder_, failure->rank), kShownLogLines);
  } else if (!abort_reason.empty()) {
    run.reason = abort_reason;
  } else {
    return conclude_in_order(status);
  }
  const std::string missing = trace::model::unwritten_text(told_by_ranks(status));
  if (!missing.empty()) run.reason += "; " + missing;
}

// Who kills the ranks does without it, and before their first step there is nothing to save.
bool JobSession::has_no_checkpoint(const std::vector<trace::model::ToldByRank>& told) const {
  std::int64_t steps = 0;
  for (const auto& rank : told) steps = std::max(steps, rank.outcome.steps);
  if (kill_requested_ || steps <= steps_before_) return false;
  const auto saved = trace::job::list_checkpoints(folder_ / trace::job::kCheckpointsFolder);
  return saved.empty() || saved.back().step < steps;
}

void JobSession::conclude_in_order(JobStatus& status) const {
  const auto told = told_by_ranks(status);
  auto& run = status.run;
  // A request that comes with the last step finds nothing left to stop.
  const bool all_finished = told.size() == static_cast<std::size_t>(run.world_size) &&
                            std::ranges::all_of(told, [](const trace::model::ToldByRank& rank) {
                              return rank.outcome.finished && !rank.outcome.left_early;
                            });
  if (!(told_by_user_ || stop_requested_) || all_finished) {
    const trace::model::RunEnd end = trace::model::end_of(told);
    run.status = end.status;
    run.reason = end.reason;
    return;
  }
  status.stopped_by_user = true;
  run.status = trace::model::RunStatus::kStopped;
  run.reason = "stopped by the user";
  const std::string steps = trace::model::steps_text(told);
  if (!steps.empty()) run.reason += " after " + steps;
  const bool is_to_save = run.settings.checkpoint_on_stop && !status.is_measured;
  status.lost_checkpoint = is_to_save && has_no_checkpoint(told);
  if (status.lost_checkpoint) run.reason += ", but the checkpoint was not saved";
  for (const auto& exit : status.exits) {
    if (exit.failed_to_leave()) run.reason += "; " + describe(exit);
  }
  const std::string missing = trace::model::unwritten_text(told);
  if (!missing.empty()) run.reason += "; " + missing;
}

}  // namespace shardlens::app::launch
