// What low-rank adapters beside a block's layers keep for backward. Any thread.
#pragma once

#include <cstdint>

#include "trace/predict/planned_job.h"

namespace shardlens::trace {

// Bytes; nothing where no adapters are trained.
struct AdapterMemory {
  // Inputs of a block's adapted layers that nobody else keeps, what lies between both factors, and
  // under autocast the factors in 16 bits: of layers before the MLP, and of its own.
  std::int64_t attention = 0, mlp = 0;
  // What the first block's first norm does not keep, since its input needs no gradient.
  std::int64_t spared = 0;

  std::int64_t saved_bytes() const { return attention + mlp; }
};
AdapterMemory adapter_memory(const PlannedJob& job);

// Bytes that exist for a moment while the largest matrix of a block is expanded from what it is
// kept in; 0 where it is used as it is.
std::int64_t expanded_matrix_bytes(const PlannedJob& job);

}  // namespace shardlens::trace
