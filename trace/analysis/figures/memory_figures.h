// Memory of one rank: now, at its peak, per category, and what the formulas expect. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/model/run_info.h"
#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::analysis {

// Takes in one sample; they come in any order. False: a contradictory sample, left out.
bool take_in(RankFigures& rank, const model::MemorySample& sample);

// Hosts that the ranks name; at least 1.
int host_count(const std::vector<RankFigures>& ranks);

// What the rank's run is to trace/predict, on `hosts` with as many ranks each; none: its shape is
// not known, or not all of its blocks have the same adapters.
std::optional<predict::PlannedJob> planned_job(const RankFigures& rank, const model::RunInfo& info,
                                               int hosts = 1);

// Tokens that the batches of the run's widest step have in a row, in the mean: texts shorter than
// `sequence_length` are padded to the longest of their batch. `sequence_length` where the model's
// shape is not known. None: no text was shorter, or the run does not tell.
std::optional<std::int64_t> padded_width(const RunFigures& figures);

// The same of batches of `batch` texts, of a run that has `width` with `recorded_batch` of them, as
// PlannedJob::padded_width. Of more texts the longest is longer, and nothing tells by how much:
// they may fill whatever they are given.
std::int64_t width_of_batch(std::optional<std::int64_t> width, std::int64_t recorded_batch,
                            std::int64_t batch);

// Sets RankFigures::estimate and estimate_peaks of all ranks of a run.
void estimate_memory(std::vector<RankFigures>& ranks, const model::RunInfo& info);

}  // namespace shardlens::trace::analysis
