// All rules, by subject: each speaks or is silent. Any thread.
#pragma once

#include <optional>

#include "trace/advice/facts/run_facts.h"

namespace shardlens::trace::advice {

// ---- buckets: what DDP's buckets tell -----------------------------------------------------------

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
// There are unused parameters, and as many in every step.
std::optional<Advice> static_graph(const RunFacts& run);
// Every micro-batch is reduced.
std::optional<Advice> accumulation(const RunFacts& run);

// ---- sharding: what units of sharding and their gathers tell ------------------------------------

// Gathers of backward are exposed, and asked for only when they are needed.
std::optional<Advice> backward_prefetch(const RunFacts& run);
// Gathers of forward are exposed, and asked for only when they are needed.
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

// ---- memory: what memory that is left over could be used for ------------------------------------

// Twice the batch fits, and what a step takes whatever its batch is a tenth of it or more.
std::optional<Advice> larger_batch(const RunFacts& run);
// Activations are computed again although they would fit.
std::optional<Advice> recomputation(const RunFacts& run);

// ---- ranks: what the times of ranks and their phases tell ---------------------------------------

// The others wait for one rank, beyond chance; and in which phase it takes longer than they do.
std::optional<Advice> straggler(const RunFacts& run);
// Most ranks wait for their batch.
std::optional<Advice> late_data(const RunFacts& run);

// ---- host: where the GPU or the ranks wait for the host -----------------------------------------

// The GPU has nothing to do as the next kernel was not launched yet.
std::optional<Advice> host_bound(const RunFacts& run);
// The same, and most kernels are over before the host could launch another.
std::optional<Advice> tiny_kernels(const RunFacts& run);
// Sharing the loss with the other ranks, for which the host waits, is exposed.
std::optional<Advice> loss_reading(const RunFacts& run);

// ---- hardware: what the link between ranks and the clocks of GPUs tell --------------------------

// Large collectives stay below half of the link's peak.
std::optional<Advice> slow_link(const RunFacts& run);
// The same, and the algorithm or protocol was chosen by the settings, or is not made for large
// ones.
std::optional<Advice> nccl_choice(const RunFacts& run);
// Heat held clocks down.
std::optional<Advice> heat(const RunFacts& run);
// The power limit held clocks down.
std::optional<Advice> power(const RunFacts& run);

}  // namespace shardlens::trace::advice
