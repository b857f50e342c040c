// What of a run is known at one moment: what pictures, figures and details are made from. Plain
// values; store and overviews outlive it. Any thread.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "trace/analysis/steps/collective_calls.h"
#include "trace/analysis/steps/device_progress.h"
#include "trace/explore/run/rank_overview.h"
#include "trace/explore/run/rank_rows.h"
#include "trace/explore/tally/run_tally.h"
#include "trace/job/settings/settings.h"
#include "trace/model/events.h"
#include "trace/store/chunk/event_store.h"
#include "trace/timeline/values/timeline_rows.h"

namespace shardlens::trace::explore {

struct RankSnapshot {
  int rank = 0;
  const RankOverview* overview = nullptr;
  std::shared_ptr<const RankRows> rows;
  bool has_all_rows = false;
  base::Interval extent;  // of everything recorded
  analysis::DeviceRecords device = analysis::DeviceRecords::kNone;
  std::int64_t known_until_ns = INT64_MAX;  // beyond it a GPU's events may still come, or are lost
  std::vector<std::pair<int, model::EventKind>> lanes;  // that have bulk events
  // Of its collectives, overlapped or exposed as a whole; null until that is known.
  std::shared_ptr<const std::vector<base::TimeClass>> exposure;
  bool operators_compute = true;  // some may count as compute

  bool awaits_events(base::Interval window) const {
    return device == analysis::DeviceRecords::kGoOn &&
           std::min(window.end_ns, extent.end_ns) > known_until_ns;
  }
};

struct RunSnapshot {
  store::EventStore* store = nullptr;
  int cell_bits = kFinestCellBits;  // of the overviews' cells
  std::shared_ptr<const timeline::TimelineRows> rows;
  std::vector<RankSnapshot> ranks;  // by rank
  int world_size = 0;               // ranks of the job; 0: not known
  std::shared_ptr<const analysis::CollectiveCalls>
      calls;                                           // of all ranks, once their rows were read
  std::shared_ptr<const analysis::HostClocks> clocks;  // as soon as `calls` are known
  std::shared_ptr<const RunTotals> totals;             // of all events, once they were scanned
  std::shared_ptr<const job::Settings> settings;       // of the job

  // A pixel that is shorter than the overviews' cells.
  bool needs_events(double ns_per_pixel) const {
    return ns_per_pixel < static_cast<double>(cell_length_ns(cell_bits));
  }
  // Of the job, files of some of which may be missing.
  std::size_t rank_count() const {
    return std::max(ranks.size(), static_cast<std::size_t>(std::max(world_size, 0)));
  }
  const RankSnapshot* rank(int number) const {
    const auto found = std::ranges::lower_bound(ranks, number, {}, &RankSnapshot::rank);
    return found != ranks.end() && found->rank == number ? &*found : nullptr;
  }
};

// A collective as the others know it.
inline analysis::CollectivePart part_of(const RankRows& rows, std::uint32_t index) {
  const model::Collective& row = rows.collectives.rows[index];
  const model::ProcessGroup* const group = rows.group(row.process_group);
  const int members = group == nullptr ? 0 : static_cast<int>(group->ranks.size());
  return {row.process_group,
          members > 0 ? group->ranks.front() : 0,
          row.sequence,
          row.function,
          rows.rank,
          index,
          row.start_ns,
          row.end_ns,
          rows.collectives.ids[index],
          members};
}

// Those of all ranks.
inline std::vector<analysis::CollectivePart> collectives_of(const RunSnapshot& run) {
  std::vector<analysis::CollectivePart> parts;
  for (const RankSnapshot& rank : run.ranks) {
    for (std::uint32_t i = 0; i < rank.rows->collectives.size(); ++i) {
      parts.push_back(part_of(*rank.rows, i));
    }
  }
  return parts;
}

}  // namespace shardlens::trace::explore
