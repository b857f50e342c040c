// A step's timeline from batches that are all there. Any thread.
#pragma once

#include <utility>
#include <vector>

#include "trace/analysis/steps/step_timeline.h"

namespace shardlens::trace {

inline StepTimeline whole_timeline(const StepFigures& figures, const std::vector<Batch>& batches,
                                   const StepContext& context, const StringTable& strings) {
  StepRowCollector rows(figures, strings);
  for (const Batch& batch : batches) rows.take_in(batch);
  return build_step_timeline(figures, std::move(rows), context, strings);
}

}  // namespace shardlens::trace
