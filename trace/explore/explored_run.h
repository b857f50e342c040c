// The open run behind RunExplorer: its files, what was read of them so far, and the work that is
// left. Any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "trace/base/result.h"
#include "trace/explore/kept_exploration.h"
#include "trace/explore/run/lane_scan.h"
#include "trace/explore/run/run_snapshot.h"
#include "trace/explore/snapshot_maker.h"
#include "trace/explore/tally/chunk_names.h"
#include "trace/explore/tally/run_tally.h"
#include "trace/model/run_info.h"
#include "trace/store/chunk/event_store.h"
#include "trace/store/run/kept_file.h"

namespace shardlens::trace::explore {

// Everything that has a place in the timeline.
timeline::TimeRange whole_range(const timeline::TimelineRows& rows);

class ExploredRun {
 public:
  static base::Result<std::unique_ptr<ExploredRun>> open(const std::filesystem::path& run,
                                                         const store::EventStoreOptions& options,
                                                         bool is_live = false);

  std::shared_ptr<const RunSnapshot> snapshot() const;
  const std::shared_ptr<ChunkNames>& names() const { return names_; }

  // Figures of the whole run, once they are known, or were kept; else null.
  std::shared_ptr<const timeline::RangeFigures> whole() const;
  // Until then, tables of what was scanned so far; null before the scan and after it.
  std::shared_ptr<const timeline::RangeFigures> whole_so_far();
  // Those of the whole run, known from here on; of a large one that nobody writes to they are kept
  // with it.
  void take_whole(const RunSnapshot& of, const timeline::RangeFigures& figures);

  // As RunExplorer's.
  base::Result<bool> work();
  double progress() const { return progress_; }
  base::Result<bool> refresh(bool has_ended = false);

 private:
  explicit ExploredRun(std::filesystem::path run)
      : path_(std::move(run)), stamp_(store::run_stamp(path_)) {}
  void restore(std::optional<KeptExploration> kept);
  void restore_overviews(const std::map<int, std::string>& kept);
  void forget_figures();
  void note_new_chunks();
  // True if what is known of any rank's GPU reaches elsewhere now, or ends otherwise.
  bool follow_devices();
  void set_whole(std::shared_ptr<const timeline::RangeFigures> figures);
  bool is_worth_keeping(const RunSnapshot& run, const timeline::RangeFigures& figures) const;
  // Of ranks that were not opened before.
  base::Result<void> open_sources();
  bool read_rows();
  bool fill_overviews();
  bool scan_events();
  // Of collectives that the scan has passed, whose events are still in the cache; once it has
  // ended, of all.
  bool scan_exposure();
  // Publishes what is known now.
  void publish();
  std::string problem() const;
  void update_progress();

  const std::filesystem::path path_;
  const store::RunStamp stamp_;  // before anything was read
  std::unique_ptr<store::EventStore> store_;
  std::shared_ptr<const job::Settings> settings_;

  std::mutex work_mutex_;  // for the next few
  std::map<int, ExploredRank> ranks_;
  std::map<int, base::Error> problems_;  // of ranks that cannot be opened so far
  SnapshotMaker maker_;
  LaneScan scan_;
  bool was_scanned_ = false;
  bool more_follows_ = false;  // of a live run
  model::RunStatus status_ = model::RunStatus::kRunning;
  int world_size_ = 0;
  std::optional<RunTally> tally_;
  std::shared_ptr<const RunTotals> totals_;  // once all was scanned
  std::shared_ptr<ChunkNames> names_;
  bool is_kept_ = false;
  std::chrono::steady_clock::time_point published_;
  std::atomic<double> progress_ = 0;

  mutable std::mutex snapshot_mutex_;  // for the next two
  std::shared_ptr<const timeline::RangeFigures> whole_;
  std::shared_ptr<const RunSnapshot> snapshot_;
};

}  // namespace shardlens::trace::explore
