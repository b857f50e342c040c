#include "app/sweep/sweep.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <system_error>
#include <thread>
#include <utility>

#include "trace/base/file_system.h"
#include "trace/base/wall_clock.h"
#include "trace/job/huggingface/find_model.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::sweep {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using trace::base::ErrorKind;
using trace::base::Result;
using trace::model::RunInfo;
using trace::model::RunStatus;

constexpr auto kLongestGlance = 200ms;  // of another program at who holds the sweep
constexpr auto kLongestFarewell = 10s;  // of ranks whose launcher was killed
// Below it a run that failed has most likely failed for want of room.
constexpr std::uintmax_t kScarceRoom = 16u << 20;

std::string file_name_of(const RunInfo& run) { return fs::path(run.folder).filename().string(); }

bool is_tagged(const RunInfo& run, const std::string& tag) {
  return std::ranges::find(run.tags, tag) != run.tags.end();
}

Result<trace::base::FolderLock> claim(const fs::path& runs_dir, const std::string& name) {
  const fs::path folder = sweep_folder(runs_dir, name);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return trace::base::fail(trace::base::write_error_kind(error.value()),
                             "cannot create the folder " + trace::base::quoted(folder) + ": " +
                                 error.message() + "; choose another library with --runs-dir");
  }
  auto lock = trace::base::FolderLock::acquire(folder, kLongestGlance);
  if (lock || lock.error().kind != ErrorKind::kFailed) return lock;
  return trace::base::fail(ErrorKind::kFailed, "another program runs the sweep '" + name +
                                                   "' at the moment: wait for it, or end it");
}

void remove_empty(const fs::path& runs_dir, const std::string& name) {
  std::error_code ignored;
  const fs::path folder = sweep_folder(runs_dir, name);
  if (!has_sweep(runs_dir, name)) fs::remove(folder, ignored);
  fs::remove(folder.parent_path(), ignored);
}

bool is_scarce(const fs::path& folder) {
  std::error_code error;
  const auto room = fs::space(folder, error);
  return !error && room.available < kScarceRoom;
}

SweepPlan plan_from(const SweepRequest& request, SweepPlan plan) {
  plan.name = request.name;
  if (request.repeats) plan.repeats = *request.repeats;
  if (request.seed) plan.seed = *request.seed;
  if (request.stops_early) plan.stops_early = *request.stops_early;
  if (request.search || request.points) plan.search = request.search;
  return plan;
}

std::optional<Goal> searched_goal(const SweepPlan& plan) {
  return plan.search ? std::optional(plan.search->goal) : std::nullopt;
}

// Whether a search that is asked for again repeats a failed run. It always does so for its start,
// without which there is nothing to search from.
bool is_tried_again(Slot slot, const SlotResult& run) {
  return run.failed_before.empty() || slot.point == kSearchStart;
}

Result<void> check_same(const SweepPoints& there, const SweepRequest& request) {
  if (!request.points) return {};
  const std::string difference = difference_text(there, *request.points);
  if (difference.empty()) return {};
  return trace::base::fail(
      ErrorKind::kUsage, "a sweep named '" + request.name + "' runs something else (" + difference +
                             "): choose another --name, or give --overwrite to replace it");
}

}  // namespace

Result<Sweep> Sweep::open(const SweepRequest& request, ReadRun read_run) {
  TRY(check_sweep_name(request.name));
  TRY_ASSIGN(auto lock, claim(request.runs_dir, request.name));
  Sweep sweep(request.runs_dir, std::move(read_run), std::move(lock));
  auto begun = sweep.begin_or_go_on(request);
  if (begun) {
    const bool is_search = sweep.plan().search.has_value();
    begun = sweep.find_results([&](Slot slot, const SlotResult& run) {
      return request.retries_failed || (is_search && is_tried_again(slot, run));
    });
  }
  if (begun) begun = sweep.save();
  if (begun) return sweep;
  remove_empty(request.runs_dir, request.name);
  return tl::make_unexpected(begun.error());
}

Result<Sweep> Sweep::look_at(const fs::path& runs_dir, const std::string& name, ReadRun read_run) {
  Sweep sweep(runs_dir, std::move(read_run), std::nullopt);
  TRY_ASSIGN(sweep.record_, read_sweep(runs_dir, name));
  // Names that other runs have by now matter to who wants to run it.
  (void)sweep.find_results([](Slot, const SlotResult&) { return false; });
  return sweep;
}

bool Sweep::is_held(const fs::path& runs_dir, const std::string& name) {
  if (!has_sweep(runs_dir, name)) return false;
  const auto lock = trace::base::FolderLock::acquire(sweep_folder(runs_dir, name), 0ms);
  return !lock && lock.error().kind == ErrorKind::kFailed;
}

Result<void> Sweep::begin_or_go_on(const SweepRequest& request) {
  const bool is_new = request.points && (request.overwrite || !has_sweep(runs_dir_, request.name));
  if (is_new) {
    record_.plan = plan_from(request, {.name = request.name, .points = *request.points});
    if (!request.seed) record_.plan.seed = std::random_device{}();
    record_.created_ns = trace::base::wall_clock_ns();
    return {};
  }
  TRY_ASSIGN(record_, read_sweep(runs_dir_, request.name));
  TRY(check_same(record_.plan.points, request));
  const auto goal_before = searched_goal(record_.plan);
  record_.plan = plan_from(request, std::move(record_.plan));
  // What is predicted is in the unit of its goal.
  if (searched_goal(record_.plan) != goal_before) {
    for (auto& [slot, run] : record_.runs) run.predicted.reset();
  }
  return {};
}

// The runs themselves say which of them are done: of one that ended when the program was killed the
// sweep's file knows nothing, and one that was deleted since is recorded anew.
Result<void> Sweep::find_results(const Retries& retries) {
  const auto library = trace::store::list_runs(runs_dir_).runs;
  for (auto& [slot, run] : std::exchange(record_.runs, {})) {
    const auto found = std::ranges::find(library, run.file_name, file_name_of);
    if (!run.failure.empty() && !retries(slot, run)) {
      if (found != library.end()) run.run = found->name;
      record_.runs[slot] = std::move(run);
    } else if (!run.failure.empty()) {
      if (plan().search) failed_before_[slot] = run.failure;
    } else if (found != library.end()) {
      adopt(slot, run, *found);
    }
  }
  TRY(find_by_name(library));
  found_ = results().size();
  return {};
}

Result<void> Sweep::find_by_name(const std::vector<RunInfo>& library) {
  std::map<std::string, const RunInfo*> by_name;
  for (const RunInfo& run : library) by_name.emplace(run.name, &run);
  const std::string tag = tag_of(plan());
  std::string taken;
  point_names_ = point_names(plan());
  for (std::size_t point = 0; point < point_names_.size(); ++point) {
    for (int round = 0; round < plan().repeats; ++round) {
      const Slot slot{point, round};
      const auto found = by_name.find(run_name(point_names_[point], round));
      const auto known = results().find(slot);
      const bool is_settled = known != results().end() && !known->second.is_to_be_retried();
      if (is_settled || found == by_name.end()) continue;
      const RunInfo& run = *found->second;
      if (!is_tagged(run, tag)) {
        taken += (taken.empty() ? "'" : ", '") + run.name + "'";
        continue;
      }
      SlotResult before;
      if (known != results().end()) {
        before.failed_before = known->second.failure;
        before.predicted = known->second.predicted;
      }
      const bool is_adopted = run.start_ns >= record_.created_ns && adopt(slot, before, run);
      if (!is_adopted) unfinished_[run.name] = run.folder;
    }
  }
  if (taken.empty()) return {};
  return trace::base::fail(ErrorKind::kUsage,
                           "runs that are not of this sweep have the names of its runs in " +
                               trace::base::quoted(runs_dir_) + ": " + taken +
                               ". Choose another name for it, or rename those runs");
}

// One that is not done, or not whole after a power cut, leaves its place as it is.
bool Sweep::adopt(Slot slot, const SlotResult& known, const RunInfo& run) {
  // Sweeps of before have paths as they were typed.
  using trace::job::with_absolute_paths;
  const bool is_same =
      with_absolute_paths(run.settings) == with_absolute_paths(plan().points.settings[slot.point]);
  if (run.status != RunStatus::kDone || !is_same) return false;
  SlotResult result = result_of(slot, run);
  if (!result.measure) return false;
  result.failed_before = known.failed_before;
  result.predicted = known.predicted;
  record_.runs[slot] = std::move(result);
  return true;
}

SlotResult Sweep::result_of(Slot slot, const RunInfo& run) const {
  SlotResult result;
  result.run = run.name;
  result.folder = run.folder;
  result.file_name = file_name_of(run);
  const auto read = read_run_(run.folder);
  const auto& settings = plan().points.settings[slot.point];
  if (!read) {
    result.failure = read.error().message;
  } else if (settings.epochs == 0 && read->last_step + 1 < settings.steps) {
    result.failure = "its files end after " + std::to_string(read->last_step + 1) + " of " +
                     std::to_string(settings.steps) + " steps";
  } else if (read->steps_measured < 1 || !(read->measure.step_ns > 0)) {
    result.failure = "no step was measured: skip_steps leaves out all of them";
  } else {
    result.measure = read->measure;
  }
  return result;
}

Result<launch::JobRequest> Sweep::request_for(Slot slot) const {
  launch::JobRequest request{.settings = plan().points.settings[slot.point],
                             .runs_dir = runs_dir_,
                             .name = run_name(point_names_[slot.point], slot.round),
                             .tags = {tag_of(plan())},
                             .is_measured = true};
  const auto old = unfinished_.find(request.name);
  if (old == unfinished_.end()) return request;
  request.overwrite = true;
  const auto deadline = std::chrono::steady_clock::now() + kLongestFarewell;
  while (trace::store::is_being_recorded(old->second)) {
    if (std::chrono::steady_clock::now() > deadline) {
      return trace::base::fail(ErrorKind::kFailed,
                               "ranks of the interrupted run '" + request.name +
                                   "' are still at work: end them, and give the command again");
    }
    std::this_thread::sleep_for(50ms);
  }
  return request;
}

Result<bool> Sweep::take(Slot slot, const launch::JobStatus& ended,
                         const std::optional<PredictedCost>& predicted) {
  const RunInfo& run = ended.run;
  if (!ended.save_errors.empty()) {
    return trace::base::fail(ErrorKind::kDiskFull,
                             "how the run '" + run.name + "' ended could not be saved: " +
                                 ended.save_errors.front() + ". Is the disk full?");
  }
  if (run.status == RunStatus::kStopped && ended.stopped_by_user) return false;
  SlotResult result;
  result.run = run.name;
  result.failure = run.reason;
  result.file_name = file_name_of(run);
  if (run.status == RunStatus::kDone) {
    result = result_of(slot, run);
  } else if (is_scarce(runs_dir_)) {
    return trace::base::fail(
        ErrorKind::kDiskFull,
        "the disk of " + trace::base::quoted(runs_dir_) + " is full, and the run '" + run.name +
            "' is " + std::string(trace::model::to_string(run.status)) + ": " + run.reason);
  } else if (result.failure.empty()) {
    result.failure = "the run is " + std::string(trace::model::to_string(run.status));
  }
  const auto before = results().find(slot);
  result.failed_before = before != results().end() ? before->second.failure : failed_before_[slot];
  result.predicted = predicted;
  if (result.is_to_be_retried() && !run.folder.empty()) unfinished_[run.name] = run.folder;
  record_.runs[slot] = std::move(result);
  TRY(save());
  return true;
}

Result<void> Sweep::keep_ending(const std::string& reason) {
  if (!record_.plan.search || record_.plan.search->ended == reason) return {};
  record_.plan.search->ended = reason;
  return save();
}

trace::base::Result<bool> run_to_end(Sweep& sweep, const SweepDriver& driver) {
  while (const auto slot = sweep.next()) {
    if (driver.wants_to_stop()) return false;
    TRY_ASSIGN(const auto request, sweep.request_for(*slot));
    TRY_ASSIGN(const auto ended, driver.run(*slot, request));
    TRY_ASSIGN(const bool counts, sweep.take(*slot, ended));
    if (!counts) return false;
    driver.counted(*slot);
  }
  return true;
}

}  // namespace shardlens::app::sweep
