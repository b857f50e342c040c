// What DDP's buckets tell. Each rule speaks or is silent; any thread.
#pragma once

#include <optional>

#include "trace/advice/facts/run_facts.h"

namespace shardlens::trace::advice {

// Buckets wait for the end of backward.
std::optional<Advice> overlap(const RunFacts& run);
// Another cap makes the step shorter than this one, by the prediction; where there is none: buckets
// are so small that latency is most of what their reductions take.
std::optional<Advice> bucket_cap(const RunFacts& run);
// Another first bucket does, by the prediction.
std::optional<Advice> first_bucket(const RunFacts& run);
// The last bucket is half of what is exposed, and more tensors than one are in it.
std::optional<Advice> last_bucket(const RunFacts& run);
// The same, but one tensor above the cap is most of it: a tensor is never split.
std::optional<Advice> big_tensor(const RunFacts& run);
// Gradients lie beside the buckets, a second time.
std::optional<Advice> bucket_views(const RunFacts& run);
// Moving gradients in 32 bits is exposed.
std::optional<Advice> compression(const RunFacts& run);
// The graph is walked for unused parameters in every step, and there are none.
std::optional<Advice> unused_parameters(const RunFacts& run);
// There are, and as many in every step.
std::optional<Advice> static_graph(const RunFacts& run);
// Every micro-batch is reduced.
std::optional<Advice> accumulation(const RunFacts& run);

}  // namespace shardlens::trace::advice
