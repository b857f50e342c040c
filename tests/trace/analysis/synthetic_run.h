// Small runs with invented times for the tests of the analysis, and their figures counted
// nanosecond by nanosecond instead of with intervals. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/model/batch.h"

namespace shardlens::trace::analysis {

// Rows of one rank with the step that they belong to, to be cut into batches in any way.
struct SyntheticRun {
  model::RunInfo info;
  std::vector<model::Batch> ranks;  // everything of one rank, in order of writing
};

struct SyntheticOptions {
  int ranks = 2;
  std::int64_t steps = 6;
  std::int64_t step_ns = 400;  // roughly
  std::int64_t skip_steps = 2;
  bool gpu = false;                  // kernels and copies instead of operators
  std::int64_t no_detail_every = 0;  // 0: every step has full detail
  std::int64_t scale = 1;            // stretches all times, so that steps get old
  unsigned seed = 1;
};

SyntheticRun make_run(const SyntheticOptions& options);

// The breakdown of one rank's step by counting nanoseconds.
StepBreakdown count_breakdown(const model::Batch& rank, const model::Step& step);

// Every row in a batch of its own, in the order in which a recorder would send them.
std::vector<model::Batch> one_by_one(const model::Batch& rank);

// Everything of the figures as text, for equality with a readable difference.
std::string dump(const RunFigures& figures);

model::Event operator_event(std::int64_t start_ns, std::int64_t end_ns, bool compute = true);
model::Collective all_reduce(int rank, std::int64_t sequence, std::int64_t start_ns,
                             std::int64_t end_ns, std::int64_t bytes, int bucket = 0,
                             std::int64_t step = 0);

}  // namespace shardlens::trace::analysis
