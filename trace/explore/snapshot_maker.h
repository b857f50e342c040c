// What is known of a run at one moment, from what was read of its ranks so far. One owner.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include "trace/analysis/steps/device_progress.h"
#include "trace/explore/run/call_matcher.h"
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

// Of a list that is sorted by rank.
std::span<const store::ChunkEntry> chunks_of_rank(std::span<const store::ChunkEntry> chunks,
                                                  int rank);

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
