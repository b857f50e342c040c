// Memory of one rank: now, at its peak, per category, and what the formulas expect. Any thread.
#pragma once

#include <array>
#include <cstdint>

#include "trace/analysis/figures.h"
#include "trace/model/run_info.h"

namespace shardlens::trace {

// Takes in one sample; they come in any order. False: a contradictory sample, left out.
bool take_in(RankFigures& rank, const MemorySample& sample);

// DDP with AdamW for P trained values of e bytes (4 in fp32): parameters eP, gradients eP,
// optimizer 2eP, buckets eP more unless gradients are views into them; activations, other and
// outside as measured at the peak. Source: Rajbhandari et al., ZeRO, 2020, section 3.1, without the
// fp16 copies. `bytes_per_value`: of gradients, from the bucket plan. All zero when P is not known.
std::array<std::int64_t, kMemoryCategoryCount> estimate_memory(const RankFigures& rank,
                                                               const RunInfo& info,
                                                               std::int64_t bytes_per_value);

}  // namespace shardlens::trace
