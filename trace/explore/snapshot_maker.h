// What is known of a run at one moment, from what was read of its ranks so far. One owner.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "trace/analysis/steps/device_progress.h"
#include "trace/explore/run/exposure_scan.h"
#include "trace/explore/run/lane_scan.h"
#include "trace/explore/run/rank_overview.h"
#include "trace/explore/run/rank_source.h"
#include "trace/explore/run/run_snapshot.h"
#include "trace/timeline/words/row_catalogue.h"

namespace shardlens::trace::explore {

// What was read of a rank, and what is found out of it.
struct ExploredRank {
  std::unique_ptr<RankSource> source;
  bool has_more_rows = false;
  RankOverview overview;
  std::int64_t last_chunk = INT64_MIN;  // of those that the overview knows of
  ExposureScan exposure;
  analysis::DeviceProgress progress;  // of its GPU
  analysis::DeviceRecords device = analysis::DeviceRecords::kNone;
  std::int64_t known_until_ns = INT64_MAX;  // of a GPU's events
};

// Finds which rows of all ranks belong to one call of a collective, again whenever ranks have new
// ones. One owner.
class CallMatcher {
 public:
  // More collectives were read.
  void forget() { is_old_ = true; }
  // Whether calls must be of all that was read, as once a run has ended; true: those that were
  // given last are not, although they must.
  bool hurry(bool hurries) {
    hurries_ = hurries;
    return hurries && is_old_;
  }
  // Gives it calls and clocks, which only all ranks' rows together tell. Unless it hurries those
  // may be of a moment ago.
  void add_to(RunSnapshot& run);

 private:
  std::shared_ptr<const analysis::CollectiveCalls> calls_;
  std::shared_ptr<const analysis::HostClocks> clocks_;
  std::chrono::steady_clock::time_point next_;
  bool is_old_ = true, hurries_ = false;
};

class SnapshotMaker {
 public:
  // All but the totals. Overviews get the extent and the length of cells that the run needs now.
  std::shared_ptr<RunSnapshot> make(store::EventStore& store,
                                    std::shared_ptr<const job::Settings> settings,
                                    std::map<int, ExploredRank>& ranks, const LaneScan& scan,
                                    std::string problem);
  // More collectives were read.
  void forget_calls() { calls_.forget(); }
  bool hurry_calls(bool hurries) { return calls_.hurry(hurries); }

 private:
  void fit_overviews(RunSnapshot& run, std::map<int, ExploredRank>& ranks, base::Interval extent);

  timeline::RowCatalogue catalogue_;
  CallMatcher calls_;
  int cell_bits_ = kFinestCellBits;  // of the overviews
};

}  // namespace shardlens::trace::explore
