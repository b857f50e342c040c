// The headline figures of a run, from its steps. Definitions: docs/NUMBERS.md. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/analysis/figures/figures.h"

namespace shardlens::trace::analysis {

// A measured step is complete and not one of the first skip_steps.
bool is_measured(const StepFigures& step);
// All its ranks recorded full detail.
bool has_detail(const StepFigures& step);

// At least one step is measured and has full detail.
bool has_measured_detail(const std::vector<StepFigures>& steps);

// The loss was read, and is none: NaN or infinite.
bool has_nonfinite_loss(const StepFigures& step);
// The first whose loss or gradient norm was not finite; null: none.
const StepFigures* first_nonfinite(const std::vector<StepFigures>& steps);

// One value per measured step: the mean over ranks of its time, in nanoseconds.
std::vector<double> measured_step_times(const std::vector<StepFigures>& steps);

// Everything but bytes_sent_per_step_theory.
RunSummary summarize(const model::RunInfo& info, const std::vector<StepFigures>& steps,
                     const std::vector<RankFigures>& ranks);

// Bytes a rank has to send per step. With buckets 2(n−1)/n × the plan's bytes, two bytes per value
// with a compressing hook, times the micro-batches with sync_each_batch; ZeRO-1 adds (n−1)/n × the
// parameters. With units (g−1)/g × each gather and reduce-scatter in groups of g, and
// 2(r−1)/r × a shard's gradients over r replicas. None without a plan, nor where `ranks` do not
// tell what backward comes to.
std::optional<double> theoretical_bytes_sent(const model::RunInfo& info,
                                             const std::vector<BucketFigures>& buckets,
                                             const std::vector<UnitFigures>& units,
                                             std::int64_t bytes_per_value,
                                             const std::vector<RankFigures>& ranks);

// Bytes of one gradient value: the plan's bytes ÷ parameters where both are known, else 4.
std::int64_t gradient_bytes_per_value(const std::vector<BucketFigures>& buckets,
                                      std::int64_t parameters);

// A clause on why the bytes that were sent are not known, and what to do; "": they are, or no step
// has full detail.
std::string why_bytes_sent_unknown(const RunFigures& figures);

// Sets step_ns and exposed_ns of each rank: means over measured steps.
void set_rank_means(const std::vector<StepFigures>& steps, std::vector<RankFigures>& ranks);

}  // namespace shardlens::trace::analysis
