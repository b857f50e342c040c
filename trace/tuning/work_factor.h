// What computing takes under other conditions: of longer or shorter sequences, by how much of a
// step is attention, or by how much of it was padding; and where more or fewer ranks share a
// machine's cores. Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "trace/analysis/figures/figures.h"
#include "trace/job/settings/settings.h"
#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::tuning {

// Of what forward and backward computed, by the names of operators or kernels (nanoseconds each).
// None: none of them is named as attention, so that it is made of others.
std::optional<double> attention_share(const std::map<std::string, double>& computed_ns);

struct WorkFactor {
  double factor = 1;  // of what was computed
  double unsure = 0;  // so much more or less, in that
};

// Of sequences `ratio` times as long. All is in proportion to the tokens but attention, which lies
// between that (what it reads and writes) and the ratio's square (every token looks at every other;
// Vaswani et al. 2017, table 1): the middle, and as far to either side.
WorkFactor sequence_work(double attention_share, double ratio);

// What a text takes to compute in other batches, in what those of the run took in the mean: at
// least as much as without any padding, at most as much as where it fills all that it is given.
struct PaddedWork {
  double least = 1, most = 1;
};
// Of a run with such texts (analysis::padded_width()), by the operations that its steps count;
// `job`: none, its shape is not known, nor what its padding took.
PaddedWork padded_work(const analysis::RunFigures& figures,
                       const std::optional<predict::PlannedJob>& job);
// With more or fewer texts in a batch, whose longest is longer or shorter then: the middle, and as
// far to either side.
WorkFactor other_batch_work(const PaddedWork& padded, bool has_more);

// Of "Intel Xeon …, 2 cores", as a rank on a CPU names its device; none: it names no cores.
std::optional<std::int64_t> cores_named(std::string_view device_name);

// The share of a core's pace, or how many of them, that computes for one rank: its threads, or, if
// that is less, what is left of the cores when all ranks have as much. `settings`: as they act.
double cores_of_a_rank(const job::Settings& settings, std::int64_t cores);

}  // namespace shardlens::trace::tuning
