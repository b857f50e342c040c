#include "app/launch/recorded_program.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "app/launch/program_files.h"
#include "app/launch/rank_environment.h"
#include "trace/base/file_system.h"
#include "trace/base/number_text.h"
#include "trace/base/spawn.h"
#include "trace/base/text.h"
#include "trace/base/this_machine.h"
#include "trace/base/wall_clock.h"
#include "trace/job/settings/grammars.h"
#include "trace/model/untold.h"
#include "trace/store/run/run_files.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/sql/query.h"

namespace shardlens::app::launch {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using trace::base::ErrorKind;
using trace::base::Result;

constexpr auto kLongestFarewell = 5s;
constexpr const char* kFolderVariable = "SHARDLENS_RECORD_FOLDER";

Result<void> check(const RecordRequest& request) {
  if (request.command.empty() || request.command.front().empty()) {
    return trace::base::fail(ErrorKind::kUsage,
                             "There is no program to record. Put its command behind two dashes: "
                             "shardlens record -- torchrun --nproc-per-node 2 train.py");
  }
  if (request.steps.empty()) return {};
  const auto schedule = trace::job::parse_record_schedule(request.steps);
  if (!schedule) return tl::make_unexpected(schedule.error());
  return {};
}

trace::store::TakenName taken_name(const RecordRequest& request) {
  if (request.overwrite) return trace::store::TakenName::kIsReplaced;
  return request.name.empty() ? trace::store::TakenName::kIsNumbered
                              : trace::store::TakenName::kIsRefused;
}

// The first row that a query over the recording gives. None: there is none, or it cannot be read.
std::optional<std::vector<trace::store::QueryValue>> first_row(const fs::path& folder,
                                                               const std::string& query) {
  auto answer = trace::store::query_run(folder, query, {});
  if (!answer || answer->rows.empty()) return std::nullopt;
  return std::move(answer->rows.front());
}

// "cuda" if any rank has used a GPU.
std::string device_of(const fs::path& folder) {
  const auto row = first_row(folder, "select count(*) from rank where device <> 'cpu'");
  return row && trace::store::to_text(row->front()) != "0" ? "cuda" : "cpu";
}

// Those that were started with the variable `entry`, "NAME=value", be it by others of them.
std::vector<pid_t> processes_that_have(const std::string& entry) {
  std::vector<pid_t> found;
  for (const fs::path& folder : trace::base::entries_of("/proc")) {
    const auto process = trace::base::number_from<pid_t>(folder.filename().string());
    if (!process) continue;
    // Of others' processes it cannot be read.
    const auto variables = trace::base::whole_text(folder / "environ");
    if (variables && ('\0' + *variables).find('\0' + entry + '\0') != std::string::npos) {
      found.push_back(*process);
    }
  }
  return found;
}

Result<pid_t> spawn(const RecordRequest& request, std::vector<std::string> environment) {
  const trace::base::SpawnAttributes attributes(/*in_own_group=*/false);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (request.output_to_stderr)
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  auto arguments = request.command;
  pid_t process = -1;
  const int error = posix_spawnp(&process, arguments.front().c_str(), &actions, attributes.get(),
                                 trace::base::pointers_to(arguments).data(),
                                 trace::base::pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) {
    trace::base::limit_open_files_as_before(process);
    return process;
  }
  return trace::base::fail(
      ErrorKind::kUsage,
      "\"" + request.command.front() + "\" could not be started: " + std::strerror(error) + ".");
}

}  // namespace

Result<std::vector<std::string>> recording_environment(std::vector<std::string> inherited,
                                                       const RecordRequest& request,
                                                       const fs::path& folder,
                                                       const fs::path& library) {
  for (const std::string_view tool : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
    if (const std::string* taken = find_variable(inherited, tool)) {
      return trace::base::fail(ErrorKind::kUsage, "Another profiler is set (" + *taken +
                                                      "): CUDA takes one at a time. "
                                                      "Start without it.");
    }
  }
  const auto add_unless_set = [&](std::string_view name, const std::string& value) {
    if (find_variable(inherited, name) == nullptr)
      inherited.push_back(std::string(name) + "=" + value);
  };
  add_unless_set("CUDA_INJECTION64_PATH", library.string());
  add_unless_set("NVTX_INJECTION64_PATH", library.string());
  add_unless_set("NCCL_PROFILER_PLUGIN", library.string());
  // NCCL tells its warnings only if asked; a file for each process, from which they get into the
  // run's log. What the user has chosen stays.
  if (find_variable(inherited, "NCCL_DEBUG") == nullptr) {
    inherited.emplace_back("NCCL_DEBUG=WARN");
    add_unless_set("NCCL_DEBUG_FILE", (folder / "nccl.%h.%p.log").string());
  }
  std::erase_if(inherited,
                [](const std::string& entry) { return entry.starts_with("SHARDLENS_RECORD_"); });
  inherited.push_back(kFolderVariable + ("=" + folder.string()));
  if (!request.steps.empty()) inherited.push_back("SHARDLENS_RECORD_STEPS=" + request.steps);
  inherited.push_back("SHARDLENS_RECORD_LIMIT_MB=" + std::to_string(request.limit_mb));
  return inherited;
}

Result<std::unique_ptr<RecordedProgram>> RecordedProgram::start(const RecordRequest& request) {
  TRY(check(request));
  TRY_ASSIGN(const fs::path library, find_record_library());
  // Before the folder is made.
  TRY(recording_environment(own_environment(), request, {}, library));
  trace::model::RunInfo run;
  run.name =
      request.name.empty() ? fs::path(request.command.front()).filename().string() : request.name;
  run.start_ns = trace::base::wall_clock_ns();
  run.machine = trace::base::machine_mark();
  run.program = "shardlens " SHARDLENS_VERSION;
  run.imported_from = trace::model::kRecordedProgram;
  run.command = trace::base::joined(request.command, " ", trace::base::in_shell);
  TRY_ASSIGN(trace::store::ClaimedRun made,
             trace::store::create_claimed_run(request.runs_dir, run, taken_name(request)));
  std::error_code error;
  const fs::path absolute = fs::absolute(made.folder, error);
  if (!error) made.folder = absolute;
  TRY_ASSIGN(auto environment,
             recording_environment(own_environment(), request, made.folder, library));
  auto process = spawn(request, std::move(environment));
  if (!process) {
    fs::remove_all(made.folder, error);
    return tl::make_unexpected(process.error());
  }
  return std::unique_ptr<RecordedProgram>(
      new RecordedProgram(std::move(run), std::move(made), *process));
}

RecordedProgram::RecordedProgram(trace::model::RunInfo run, trace::store::ClaimedRun made,
                                 pid_t process)
    : run_(std::move(run)),
      made_(std::move(made)),
      room_for_end_(made_.folder),
      process_(process) {}

RecordedProgram::~RecordedProgram() {
  if (has_ended_) return;
  kill_all();
  int ignored = 0;
  waitpid(process_, &ignored, 0);
}

void RecordedProgram::send(int signal) {
  if (!has_ended_) kill(process_, signal);
}

void RecordedProgram::kill_all() {
  send(SIGKILL);
  for (const pid_t process : processes_that_have(kFolderVariable + ("=" + folder().string()))) {
    kill(process, SIGKILL);
  }
}

bool RecordedProgram::poll() {
  int status = 0;
  if (!has_ended_ && waitpid(process_, &status, WNOHANG) == process_) {
    has_ended_ = true;
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    exit_signal_ = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
  // Whoever watches the run sees its ranks; at the end it is written once more, with errors told.
  if (adopt_ranks()) static_cast<void>(trace::store::update_run(folder(), run_));
  return has_ended_;
}

// What each recorded process left beside its file; see profiler/inject/rank_identity.
std::vector<RecordedProgram::Claim> RecordedProgram::claims() const {
  std::vector<Claim> found;
  std::error_code error;
  for (const fs::path& file : trace::base::entries_of(folder())) {
    const std::string name = file.filename().string();
    Claim claim;
    constexpr std::string_view kPrefix = "rank_";
    if (!name.starts_with(kPrefix) || file.extension() != ".claim") continue;
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), claim.rank);
    std::ifstream(file) >> claim.process >> claim.world_size >> claim.unwritten;
    claim.was_restarted = fs::exists(fs::path(file).replace_extension(".restarted"), error);
    found.push_back(claim);
  }
  return found;
}

bool RecordedProgram::adopt_ranks() {
  const auto known = claims();
  if (known.empty()) return false;
  trace::model::RunInfo run = run_;
  const int ranks = static_cast<int>(known.size());
  run.world_size = ranks;
  for (const Claim& claim : known)
    run.world_size = std::max({run.world_size, claim.world_size, claim.rank + 1});
  run.recorded_ranks = ranks < run.world_size ? ranks : 0;
  const bool is_new =
      run.world_size != run_.world_size || run.recorded_ranks != run_.recorded_ranks;
  run_ = std::move(run);
  return is_new;
}

// torchrun, say, may leave before the last worker has closed its file.
void RecordedProgram::wait_for_ranks() const {
  const auto deadline = std::chrono::steady_clock::now() + kLongestFarewell;
  const auto runs = [](const Claim& claim) {
    return claim.process > 0 && kill(claim.process, 0) == 0;
  };
  while (std::ranges::any_of(claims(), runs) && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(20ms);
}

// A rank whose disk stays full tells it in its claim, not in its file; one that was killed has told
// only its file.
std::int64_t RecordedProgram::count_unwritten() const {
  std::map<std::int64_t, std::int64_t> of_ranks;
  for (const Claim& claim : claims()) of_ranks[claim.rank] = claim.unwritten;
  const auto lost = trace::store::query_run(folder(),
                                            "select rank, sum(count) from lost "
                                            "where reason like 'write failed%' group by rank");
  if (lost) {
    for (const auto& row : lost->rows) {
      const auto* rank = std::get_if<std::int64_t>(&row.at(0));
      const auto* count = std::get_if<std::int64_t>(&row.at(1));
      if (rank == nullptr || count == nullptr) continue;
      of_ranks[*rank] = std::max(of_ranks[*rank], *count);
    }
  }
  std::int64_t all = 0;
  for (const auto& [rank, count] : of_ranks) all += count;
  return all;
}

void RecordedProgram::tell_incomplete(const std::string& why) {
  if (run_.status == trace::model::RunStatus::kDone)
    run_.status = trace::model::RunStatus::kIncomplete;
  run_.reason += (run_.reason.empty() ? "" : "; ") + why;
}

void RecordedProgram::name_unwritten() {
  const std::int64_t count = count_unwritten();
  if (count <= 0) return;
  tell_incomplete(trace::base::counted(count, "record") +
                  " could not be written: the disk was full, or a limit for files was reached");
}

void RecordedProgram::name_restarts() {
  const auto restarted = std::ranges::count(claims(), true, &Claim::was_restarted);
  if (restarted == 0) return;
  tell_incomplete(trace::base::counted(restarted, "rank") +
                  " ended and began again, as with torchrun --max-restarts, and what came then is "
                  "not recorded: start the program again with shardlens record");
}

// A rank closes its file at exit(), which os._exit(), exec and SIGKILL leave out. Why one failed is
// told already.
void RecordedProgram::name_unclosed() {
  if (run_.status == trace::model::RunStatus::kFailed) return;
  const auto row = first_row(folder(), "select count(distinct rank) from string where text = '" +
                                           std::string(trace::model::kClosedInOrder) + "'");
  if (!row) return;
  const auto* closed = std::get_if<std::int64_t>(&row->front());
  const std::int64_t open =
      std::ssize(trace::store::rank_files(folder())) - (closed == nullptr ? 0 : *closed);
  if (open <= 0) return;
  tell_incomplete("the last records of " + trace::base::counted(open, "rank") +
                  ", about those of 0.1 s (of collectives up to 5 s), are lost, as where a process "
                  "ends by os._exit, exec or SIGKILL: let it end by itself");
}

// Each rank counts from the number in its own first range: one that puts none there, from 0. One
// that only began later has steps that others have, too.
void RecordedProgram::name_steps_apart() {
  const auto row = first_row(
      folder(),
      "select a.rank, a.first, b.rank, b.first from "
      "(select rank, min(step) as first, max(step) as last from step group by rank) a join "
      "(select rank, min(step) as first from step group by rank) b on b.first > a.last limit 1");
  if (!row) return;
  const auto text_of = [&](std::size_t column) { return trace::store::to_text(row->at(column)); };
  tell_incomplete("rank " + text_of(0) + " counts its steps from " + text_of(1) + ", rank " +
                  text_of(2) + " from " + text_of(3) +
                  ", so that they are not compared step by step: give the ranges of all ranks "
                  "the step's number, or of none");
}

Result<void> RecordedProgram::conclude(bool stopped) {
  wait_for_ranks();
  adopt_ranks();
  std::error_code ignored;
  if (trace::store::rank_files(folder()).empty()) {
    fs::remove_all(folder(), ignored);
    return trace::base::fail(
        ErrorKind::kMissing,
        "Nothing was recorded: none of the program's processes had work for a GPU or an NVTX "
        "range. "
        "Without a GPU, mark steps and phases with NVTX (torch.cuda.nvtx.range_push).");
  }
  run_.end_ns = trace::base::wall_clock_ns();
  run_.status = trace::model::RunStatus::kDone;
  if (stopped) {
    run_.status = trace::model::RunStatus::kStopped;
    run_.reason = "stopped by the user";
  } else if (exit_code_ != 0) {
    run_.status = trace::model::RunStatus::kFailed;
    run_.reason = exit_signal_ != 0
                      ? "the program was ended by signal " + std::to_string(exit_signal_) + " (" +
                            strsignal(exit_signal_) + ")"
                      : "the program ended with exit code " + std::to_string(exit_code_);
  }
  name_unwritten();
  name_restarts();
  name_unclosed();
  name_steps_apart();
  for (const Claim& claim : claims()) {
    for (const char* suffix : {".claim", ".restarted"})
      fs::remove(folder() / ("rank_" + std::to_string(claim.rank) + suffix), ignored);
  }
  run_.device = device_of(folder());
  const auto merged = trace::store::checkpoint_run(folder());
  const std::string unsaved = "the run's end could not be saved: ";
  if (!merged) save_errors_.push_back(unsaved + merged.error().message);
  room_for_end_.release();
  const auto saved = trace::store::update_run(folder(), run_);
  if (!saved) save_errors_.push_back(unsaved + saved.error().message);
  // What was recorded is whole whatever becomes of the run that it replaces.
  const auto placed = trace::store::take_place(made_);
  if (!placed) save_errors_.push_back("the old run is still there: " + placed.error().message);
  return {};
}

}  // namespace shardlens::app::launch
