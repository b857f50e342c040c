// A sweep as it goes on: what is run next, as a request to start; what came of it, on disk before
// the next one starts. Killed at any moment it goes on where it was: of the runs themselves it is
// read which of them were done. Starts nothing itself. One thread at a time; waits for the disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/launch/job_request.h"
#include "app/launch/job_session.h"
#include "app/sweep/sweep_file.h"
#include "app/sweep/sweep_results.h"
#include "trace/base/file_system.h"

namespace shardlens::app::sweep {

struct SweepRequest {
  std::filesystem::path runs_dir = "runs";
  std::string name;
  std::optional<SweepPoints> points;  // none: those of the sweep of that name, which goes on
  // None: as they were before; of a new sweep as SweepPlan has them.
  std::optional<int> repeats;
  std::optional<std::uint64_t> seed;  // of a new sweep: one by chance
  std::optional<bool> stops_early;
  // None: with `points` all of them are run, else as before.
  std::optional<SearchPlan> search{};
  bool overwrite = false;  // of a sweep of that name, and of its runs as they are recorded anew
  // Runs that failed are recorded anew, and once more if they fail again; without it only what
  // has failed but once, and the first point of a search.
  bool retries_failed = false;
};

// Reads a run that was done. Error: it cannot be read.
struct WholeRun {
  RunMeasure measure;
  std::int64_t last_step = -1;  // -1: none; one that resumes a checkpoint begins behind others
  std::int64_t steps_measured = 0;
};
using ReadRun = std::function<trace::base::Result<WholeRun>(const std::filesystem::path& run)>;

class Sweep {
 public:
  // Begins a sweep, or goes on with the one of that name. Held until this object goes. Errors:
  // kUsage: another one has the name, with what differs; other runs have the names of its runs,
  // all named. kFailed: another program runs it. Those of read_sweep() and write_sweep().
  static trace::base::Result<Sweep> open(const SweepRequest& request, ReadRun read_run);
  // One as it stands, only to be looked at, whoever runs it. Errors: those of read_sweep().
  static trace::base::Result<Sweep> look_at(const std::filesystem::path& runs_dir,
                                            const std::string& name, ReadRun read_run);
  // Whether a program runs the sweep of that name now.
  static bool is_held(const std::filesystem::path& runs_dir, const std::string& name);

  const SweepPlan& plan() const { return record_.plan; }
  const SweepResults& results() const { return record_.runs; }
  std::int64_t created_ns() const { return record_.created_ns; }
  // How many results there were when it was opened.
  std::size_t found() const { return found_; }

  std::optional<Slot> next() const { return next_slot(plan(), results()); }
  // The job to start now. Waits for ranks of an interrupted run that are about to end; error
  // kFailed: they go on.
  trace::base::Result<launch::JobRequest> request_for(Slot slot) const;
  // What came of it, and what a search had predicted of it. False: its user stopped it, so that it
  // will be run anew. Error: the sweep cannot go on now, since the disk is full, say; with room
  // again it can.
  trace::base::Result<bool> take(Slot slot, const launch::JobStatus& ended,
                                 const std::optional<PredictedCost>& predicted = {});
  // Keeps why a search has ended; "": it goes on. Errors: those of write_sweep().
  trace::base::Result<void> keep_ending(const std::string& reason);

 private:
  using Lock = std::optional<trace::base::FolderLock>;
  Sweep(std::filesystem::path runs_dir, ReadRun read_run, Lock lock)
      : runs_dir_(std::move(runs_dir)), read_run_(std::move(read_run)), lock_(std::move(lock)) {}
  trace::base::Result<void> begin_or_go_on(const SweepRequest& request);
  // `retries`: what failed is no result.
  using Retries = std::function<bool(Slot, const SlotResult&)>;
  trace::base::Result<void> find_results(const Retries& retries);
  trace::base::Result<void> find_by_name(const std::vector<trace::model::RunInfo>& library);
  // Whether it is a result. `known`: what there is of it beside the run itself.
  bool adopt(Slot slot, const SlotResult& known, const trace::model::RunInfo& run);
  SlotResult result_of(Slot slot, const trace::model::RunInfo& run) const;
  trace::base::Result<void> save() const { return write_sweep(runs_dir_, record_); }

  std::filesystem::path runs_dir_;
  ReadRun read_run_;
  Lock lock_;  // none: it is only looked at
  SweepRecord record_;
  std::vector<std::string> point_names_;
  std::size_t found_ = 0;
  std::map<Slot, std::string> failed_before_;  // why, of what a search tries again
  // Runs of this sweep that were not done, by name: they make way.
  std::map<std::string, std::filesystem::path> unfinished_;
};

// Whoever starts its jobs: the command line, or the window's queue. `Which`: tells a run.
template <typename Which>
struct Driver {
  std::function<bool()> wants_to_stop;  // asked before each run
  // From its start to its end. Error: it could not be started, after which it can be resumed.
  std::function<trace::base::Result<launch::JobStatus>(const Which&, const launch::JobRequest&)>
      run;
  std::function<void(const Which&)> counted;  // what came of it is among the results, on disk
};
using SweepDriver = Driver<Slot>;

// What is left of it. False: its user stopped it. Errors: those of the sweep and of the driver.
trace::base::Result<bool> run_to_end(Sweep& sweep, const SweepDriver& driver);

}  // namespace shardlens::app::sweep
