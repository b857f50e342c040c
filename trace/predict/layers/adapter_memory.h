// What low-rank adapters beside a block's layers keep for backward, and make in it. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::predict {

// Bytes, of one layer's adapter.
struct AdaptedLayer {
  std::string layer;         // within its block: "attn.c_attn"
  std::int64_t input = 0;    // of the layer, in the type that is computed in
  std::int64_t between = 0;  // both factors
  std::int64_t output = 0;   // of the layer
  // By forward: what lies between the factors, an input that nobody else keeps, dropout's mask, and
  // under autocast the factors in 16 bits.
  std::int64_t saved = 0;
};
// Of one block, in registration order; none where no adapters are trained.
std::vector<AdaptedLayer> adapter_memory(const PlannedJob& job);

// Bytes that the first block does not keep where adapters are trained, since its input needs no
// gradient: by its first norm, and under autocast of the matrices that multiply that input.
std::int64_t spared_by_first_block(const PlannedJob& job);

}  // namespace shardlens::trace::predict
