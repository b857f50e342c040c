// A made-up run of two ranks under DDP on the CPU, for tests of predictions.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/predict/schedule/recorded_steps.h"

namespace shardlens::trace::tuning {

inline constexpr std::int64_t kMs = 1'000'000;
inline constexpr std::int64_t kMib = 1 << 20;

// Four gradients of a MiB each, in a bucket each: settings, and one step every 200 ms of which
// gradients are ready 40, 60, 80 and 100 ms after its begin, 2 ms later on rank 1, and transfers of
// a bucket take 10 ms, of all four (the first step) 25 ms. Steps last 150 ms and a tenth of a
// millisecond more on every other.
struct RecordedJob {
  RecordedJob();

  analysis::RunFigures figures;
  int steps = 20;
  std::map<std::int64_t, std::int64_t> transfer_ns{{kMib, 10 * kMs}, {4 * kMib, 25 * kMs}};

  // Adds the steps to the figures, and tells the rest.
  predict::RecordedSteps record();
};

}  // namespace shardlens::trace::tuning
