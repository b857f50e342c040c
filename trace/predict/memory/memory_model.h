// How much memory each rank of a job needs, from its settings and the model's shape alone: a step
// is walked through as the trainer runs it. On a CPU the figures are those of the recorder's
// allocator, on a GPU those of tensors, without fragmentation. Any thread; microseconds.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/model/events.h"
#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::predict {

struct MemoryTerm {
  model::MemoryCategory category = model::MemoryCategory::kOther;
  std::int64_t bytes = 0;
  std::string formula;  // with the numbers put in
};

struct MemoryPrediction {
  using Bytes = std::array<std::int64_t, model::kMemoryCategoryCount>;

  Bytes at_peak{};         // what the peak of the step consists of; `outside` is not known, 0
  Bytes category_peaks{};  // each category at its own highest
  std::vector<MemoryTerm> terms;  // of `at_peak`, by category; they sum to it
  std::string peak_place;         // "backward of blocks.4"
  std::int64_t host_bytes = 0;    // of offloaded shards, in the host's memory
  std::string host_formula;

  std::int64_t total() const;
};

// Of the rank that needs most. Collectives under way are counted as not done yet: what is measured
// may be less by a unit or two, never more.
MemoryPrediction predict_memory(const PlannedJob& job);

// The total alone, for searches.
std::int64_t predict_peak_bytes(const PlannedJob& job);

}  // namespace shardlens::trace::predict
