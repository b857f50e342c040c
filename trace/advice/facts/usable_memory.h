// How much memory the tensors of one rank may take, as a recorded run tells it. Any thread.
#pragma once

#include <cstdint>

#include "trace/analysis/figures/figures.h"

namespace shardlens::trace::advice {

// Its share of the device's memory, without what it held beyond its tensors (where ranks share a
// GPU: an equal part of what they all did); of the rank that has least, if `ranks` were to train
// where the run's ranks did; 1 where nothing is left. 0: not known.
std::int64_t usable_bytes(const analysis::RunFigures& figures, std::int64_t ranks);

}  // namespace shardlens::trace::advice
