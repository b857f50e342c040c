// When forward and backward were in which unit, in a run that has none: DDP knows but gradients.
// Any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "trace/predict/schedule/recorded_steps.h"
#include "trace/predict/schedule/step_work.h"
#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::tuning {

struct UnitMoments {
  std::size_t blocks = 0;
  // Of the operations of forward and of those of backward, in one block: what is left is the
  // model's head. A loss that is computed in chunks has the head's backward in forward, too.
  double block_share = 0, backward_share = 0;
  // By gradient, in the order in which they come: the block of its parameter, or −1.
  std::vector<std::int64_t> blocks_of_gradients{};
};

// `parameters`: by gradient, in the order in which they come; empty: not known.
UnitMoments unit_moments(const predict::PlannedJob& job,
                         const std::vector<std::string>& parameters);

// The order in which gradients come where nobody planned buckets: that of the parameters,
// backwards. Of a job without frozen parameters.
std::vector<predict::RecordedSteps::Gradient> gradients_backwards(const predict::PlannedJob& job);

// Writes what is missing, for one unit per block: forward by operations (6·N + 12·L·C·T, as under
// MFU), backward up to the last gradient of a block, or, without gradients, by operations, too.
void fill_unit_moments(const UnitMoments& moments, predict::MicroBatchWork& work);

}  // namespace shardlens::trace::tuning
