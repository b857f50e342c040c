// One step of all ranks, ready to be drawn at any zoom. Plain values, any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trace/timeline/values/picture.h"
#include "trace/timeline/values/timeline_rows.h"

namespace shardlens::trace::timeline {

struct StepPicture {
  struct RankCompute {
    int rank = 0;
    std::int64_t compute_ns = 0;
  };
  std::int64_t step = -1;
  bool has_detail = false;              // of any rank, and no rank awaits its own
  bool awaits_detail = false;           // not all that GPUs did in it was read yet
  std::vector<RankCompute> by_compute;  // ranks that have reported it, the longest computing first
  std::shared_ptr<const TimelineRows> rows;        // of that step alone; never null
  std::shared_ptr<const TimelinePicture> picture;  // of all of them, over the whole step
};

}  // namespace shardlens::trace::timeline
