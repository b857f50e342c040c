// What memory that is left over could be used for. Each rule speaks or is silent; any thread.
#pragma once

#include <optional>

#include "trace/advice/facts/run_facts.h"

namespace shardlens::trace::advice {

// Twice the batch fits, and what a step takes whatever its batch is a tenth of it or more.
std::optional<Advice> larger_batch(const RunFacts& run);
// Activations are computed again although they would fit.
std::optional<Advice> recomputation(const RunFacts& run);

}  // namespace shardlens::trace::advice
