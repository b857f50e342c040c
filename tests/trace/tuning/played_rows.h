// The rows that a run of a played job would record. Strings have the same numbers in each step.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/trace/tuning/played_script.h"
#include "trace/model/batch.h"

namespace shardlens::trace::tuning {

// All-reduces of all sizes, before the first step: as what loading a model or a first step tells.
void add_sums(double latency_ns, double ns_per_byte, int rank, model::Batch& batch);
void add_units(std::size_t count, int rank, model::Batch& batch);
void add_buckets(const PlayedScript& script, int rank, model::Batch& batch);

model::Batch rows_of_step(const PlayedScript& script, const predict::Played& played,
                          std::int64_t step, int rank);

}  // namespace shardlens::trace::tuning
