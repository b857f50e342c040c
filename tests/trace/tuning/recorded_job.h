// A made-up run of two ranks under DDP on the CPU, for tests of predictions.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/predict/record/recorded_steps.h"

namespace shardlens::trace::tuning {

inline constexpr std::int64_t kMs = 1'000'000;
inline constexpr std::int64_t kMib = 1 << 20;

inline std::int64_t begin_of_step(std::int64_t step) { return (step + 1) * 300 * kMs; }

// Four gradients of a MiB each, in a bucket each: settings, and one step every 300 ms of which
// gradients are ready 40, 60, 80 and 100 ms after its begin, 2 ms later on rank 1. Transfers of a
// bucket take 10 ms; the first step, which is not measured, has one bucket of all four, which takes
// 25 ms. Behind the last transfer a step takes 38 ms, a tenth of a millisecond more every other.
struct RecordedJob {
  RecordedJob();

  analysis::RunFigures figures;
  int steps = 20;                              // that are measured
  double attention = 0;                        // of what ranks compute: operators named so
  std::int64_t gradient_ns = 0;                // what is done to each gradient, until it is ready
  std::array<std::int64_t, 2> optimizer_ns{};  // of a rank, in the 38 ms
  std::int64_t loss_ns = 0;     // what its exchange takes, in the 38 ms; 0: there is none
  std::int64_t held_up_ns = 0;  // as much longer each transfer of the last step takes
  // As much longer those take beside which ranks compute: of a step's buckets all but the last.
  std::int64_t core_delay_ns = 0;
  // Tokens of every text, and of a row of the batch that it is padded for; 0: not told.
  std::int64_t text_tokens = 0, width = 0;
  std::map<std::int64_t, std::int64_t> transfer_ns{{kMib, 10 * kMs}, {4 * kMib, 25 * kMs}};

  // Adds the steps to the figures, and tells the rest.
  predict::RecordedSteps record();
};

}  // namespace shardlens::trace::tuning
