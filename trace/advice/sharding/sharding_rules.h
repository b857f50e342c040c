// What units of sharding and their gathers tell. Each rule speaks or is silent; any thread.
#pragma once

#include <optional>

#include "trace/advice/facts/run_facts.h"

namespace shardlens::trace::advice {

// Gathers of backward are exposed, and asked for only when they are needed.
std::optional<Advice> backward_prefetch(const RunFacts& run);
// The same of forward.
std::optional<Advice> forward_prefetch(const RunFacts& run);
// They are prefetched, and exposed as the host asks for them late. On a GPU.
std::optional<Advice> late_prefetch(const RunFacts& run);
// Latency is most of what gathering a unit takes.
std::optional<Advice> small_units(const RunFacts& run);
// One unit is half of the model or more.
std::optional<Advice> large_units(const RunFacts& run);
// Gathering units again in backward is exposed, and there is memory to keep them.
std::optional<Advice> keep_units(const RunFacts& run);
// Units are kept from forward to backward, and memory is nearly full.
std::optional<Advice> free_units(const RunFacts& run);
// A strategy that sends less fits.
std::optional<Advice> less_communication(const RunFacts& run);
// Shards lie on several hosts, so that every gather crosses the link between them.
std::optional<Advice> hybrid_sharding(const RunFacts& run);

}  // namespace shardlens::trace::advice
