// What the ranks of a run hold, lane by lane, from their chunks and their rows. Any thread.
#pragma once

#include <span>

#include "trace/analysis/steps/device_progress.h"
#include "trace/explore/run/lane_scan.h"
#include "trace/explore/run/run_snapshot.h"
#include "trace/timeline/words/row_catalogue.h"

namespace shardlens::trace::explore {

timeline::RankContent content_of(const RankSnapshot& rank,
                                 std::span<const store::ChunkEntry> chunks_of_rank,
                                 const LaneScan& scan);

// Of a rank: of all that it has recorded.
base::Interval extent_of(std::span<const store::ChunkEntry> chunks_of_rank, const RankRows& rows);

// How far all that a rank's GPU did is there while its records go on, or where they broke off; else
// all is. `device`: as it was left by the last call.
std::int64_t device_known_until(analysis::DeviceProgress& device, analysis::DeviceRecords records,
                                std::span<const store::ChunkEntry> chunks_of_rank,
                                const RankRows& rows);

}  // namespace shardlens::trace::explore
