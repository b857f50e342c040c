// Reads the library's sweeps for the window, whoever runs them, on a thread of its own. Interface
// thread only, but for the functions and a SweepSource, which wait for the disk; `on_change` comes
// from others.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/search/search_loop.h"
#include "app/session/jobs/strategy_planner.h"
#include "app/session/runs/library_run.h"
#include "app/session/worker/latest_worker.h"
#include "app/sweep/sweep.h"
#include "app/sweep/sweep_prediction.h"
#include "trace/base/file_system.h"
#include "ui/state/sweep_view.h"

namespace shardlens::app::session {

// A sweep as the window shows it: all but whether it runs, and its banners.
ui::state::ShownSweep shown_sweep(const sweep::SweepPlan& plan, const sweep::SweepResults& results,
                                  const sweep::SweepPredictions& predictions);

// What a search has of its own: means, predictions, best and verdict, the order of its points, and
// why points were not run. What shown_sweep() says of rounds makes way.
void show_search(const sweep::SweepPlan& plan, const search::Standing& standing,
                 const sweep::SweepResults& results, ui::state::ShownSweep& shown);

// A run, as a sweep counts it.
sweep::WholeRun measured(const LibraryRun& record);
// By the figures that are kept with it, else by reading all of it.
trace::base::Result<sweep::WholeRun> measured_run(const std::filesystem::path& run);

struct ReadSweeps {
  std::vector<std::string> names{};                      // the newest first
  std::shared_ptr<const ui::state::ShownSweep> shown{};  // null: there is none
  bool is_read = false;
  std::uint64_t asked = 0;  // the number of the question
  std::uint64_t version = 0;
};

// Names of the library's sweeps, the one that went on last first.
std::vector<std::string> newest_sweeps(const std::filesystem::path& runs_dir);

// One sweep after another; what was read of a run is kept.
class SweepSource {
 public:
  explicit SweepSource(std::filesystem::path runs_dir) : runs_dir_(std::move(runs_dir)) {}

  // A sweep that cannot be read has that for a `problem`, and no points.
  ui::state::ShownSweep read(const std::string& name);

 private:
  struct KnownRun {
    sweep::WholeRun run;
    std::vector<std::string> banners;
  };
  trace::base::Result<sweep::WholeRun> read_run(const std::filesystem::path& run);
  search::Standing standing_of(const sweep::Sweep& grid);

  const std::filesystem::path runs_dir_;
  std::string name_;
  std::map<std::filesystem::path, KnownRun> runs_;  // of this sweep
  std::optional<sweep::LearntRuns> learnt_;
  std::optional<search::RunForecasts> forecasts_;        // of a search
  std::pair<std::int64_t, sweep::Goal> forecasts_of_{};  // when that was created, and its goal
  std::optional<Machine> machine_;
};

class SweepReader {
 public:
  SweepReader(std::filesystem::path runs_dir, std::function<void()> on_change);

  // "": the newest. The question's number: later ones are higher.
  std::uint64_t show(const std::string& name);
  // The one that was shown last again, if another program that ran it has ended or written since.
  void look_again();
  ReadSweeps state() const;
  void wait_until_idle() { reading_.wait_until_idle(); }

 private:
  struct Question {
    std::string name;
    std::uint64_t number = 0;
    bool only_if_changed = false;
  };
  void answer(const Question& question);
  trace::base::FileStamp stamp_of(const std::string& name) const;

  const std::filesystem::path runs_dir_;
  const std::function<void()> on_change_;
  Question asked_;            // last, by the interface
  mutable std::mutex mutex_;  // guards what follows
  ReadSweeps read_;
  SweepSource source_;              // the worker's own, as what follows
  trace::base::FileStamp stamp_;    // of what was read, before it was
  LatestWorker<Question> reading_;  // last: stops first
};

}  // namespace shardlens::app::session
