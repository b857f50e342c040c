// Which points of a sweep are worth a choice between time and memory. Any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "trace/analysis/noise/round_noise.h"

namespace shardlens::app::sweep {

struct FrontPoint {
  std::size_t point = 0;  // as the noise knows it
  double peak_bytes = 0;  // of tensors, of the rank that needs most
};

// Of these the ones that none of them beats: by needing no more memory and being faster beyond
// noise, or by needing less and having the lower level. Memory is the same unless it matters
// (trace::analysis::is_same_memory). So the point of the lowest level is always one of them, and
// of those that need as much memory all that noise does not tell from the fastest. `claims`: the
// probability with which one of two equals may be called slower; without a known spread nothing is.
// In the order of `points`.
std::vector<bool> front_of(const std::vector<FrontPoint>& points,
                           const trace::analysis::RoundNoise& noise, double claims);

}  // namespace shardlens::app::sweep
