// The open run behind RunExplorer: its files, what was read of them so far, and the work that is
// left. Any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "trace/explore/exposure_scan.h"
#include "trace/explore/lane_scan.h"
#include "trace/explore/rank_source.h"
#include "trace/explore/run_snapshot.h"
#include "trace/model/result.h"
#include "trace/store/event_store.h"
#include "trace/timeline/row_catalogue.h"

namespace shardlens::trace {

class ExploredRun {
 public:
  static Result<std::unique_ptr<ExploredRun>> open(const std::filesystem::path& run,
                                                   const EventStoreOptions& options);

  std::shared_ptr<const RunSnapshot> snapshot() const;

  // As RunExplorer's.
  Result<bool> work();
  double progress() const { return progress_; }
  Result<bool> refresh();

 private:
  struct Rank {
    std::unique_ptr<RankSource> source;
    bool has_more_rows = true, has_more_tiles = true;
    ExposureScan exposure;
  };

  explicit ExploredRun(std::filesystem::path run) : path_(std::move(run)) {}
  // Of ranks that were not opened before.
  Result<void> open_sources();
  bool read_rows();
  bool rebuild_tiles();
  bool scan_exposure();
  // Publishes what is known now.
  void publish();
  std::string problem() const;
  RankSnapshot snapshot_of(const Rank& rank, std::span<const ChunkEntry> chunks) const;
  // Of `run` what only all ranks' rows together tell.
  void add_calls(RunSnapshot& run);
  void update_progress();

  const std::filesystem::path path_;
  std::unique_ptr<EventStore> store_;

  std::mutex work_mutex_;  // for the next few
  std::map<int, Rank> ranks_;
  std::map<int, Error> problems_;  // of ranks that could not be opened
  RowCatalogue catalogue_;
  LaneScan scan_;
  bool was_scanned_ = false;
  std::shared_ptr<const CollectiveCalls> calls_;
  std::shared_ptr<const std::vector<RankClock>> clocks_;
  std::chrono::steady_clock::time_point next_calls_;
  bool calls_are_old_ = true;
  std::chrono::steady_clock::time_point published_;
  std::atomic<double> progress_ = 0;

  mutable std::mutex snapshot_mutex_;
  std::shared_ptr<const RunSnapshot> snapshot_;
};

}  // namespace shardlens::trace
