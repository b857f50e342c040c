// One step of every rank, as it is drawn: of DDP with buckets, or of a sharding strategy with
// units.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/timeline/values/picture.h"
#include "trace/timeline/values/timeline_rows.h"

namespace shardlens::ui {

struct SampleStep {
  std::int64_t index = 0;
  std::int64_t start_ns = 0;
  int ranks = 2;
  double milliseconds = 160;     // of one step
  double late_milliseconds = 0;  // how much later the last rank arrives
  std::vector<std::int64_t> bucket_bytes;
  std::int64_t bucket_cap = 0;  // above twice it, the bucket carries a note
  bool gpu = false;
  int operators = 0;  // per rank; 0: some 150
  int blocks = 0;     // units besides the root, instead of buckets; 0: buckets
  int groups = 1;     // 2: gradients of units are also reduced over replicas
};

struct SampleTimeline {
  trace::timeline::StepPicture picture;
  std::vector<trace::analysis::StepBreakdown> ranks;
};
SampleTimeline sample_timeline(const SampleStep& step);

}  // namespace shardlens::ui
