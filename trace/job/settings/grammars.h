// The small grammars inside four settings: `record`, `record_allocations`, `simulate_link` and
// `inject`; and the ranks that share a link. Any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/phase.h"
#include "trace/base/result.h"

namespace shardlens::trace::job {

// "every step" | "steps 10..20" | "every 10th" | "none"  (also "10..20" and "every 10")
struct RecordSchedule {
  std::int64_t first = 0;
  std::int64_t last = INT64_MAX;  // inclusive
  std::int64_t every = 1;

  bool includes(std::int64_t step) const {
    return step >= first && step <= last && (step - first) % every == 0;
  }
  // No step has detail, and whatever would collect it need not start.
  bool is_empty() const { return last < first; }
};
base::Result<RecordSchedule> parse_record_schedule(std::string_view text);
// "off" (none) | "step 4" | any of the above: the steps whose single allocations are recorded.
base::Result<std::optional<RecordSchedule>> parse_allocation_schedule(std::string_view text);

// Ranks that communicate, and how they lie on nodes: each node has as many, one after another.
struct RankGroup {
  std::int64_t ranks = 1;
  std::int64_t apart = 1;  // ranks from one to the next

  // How many of them stand on a node.
  std::int64_t on_node(std::int64_t ranks_per_node) const {
    return std::clamp<std::int64_t>(ranks_per_node / apart, 1, ranks);
  }
  bool spans_nodes(std::int64_t ranks_per_node) const { return on_node(ranks_per_node) < ranks; }
};

// "off" | "latency_us=50,gbit_per_s=10" | "latency_us=50,gbit_per_s=10,nodes=2": a collective of n
// ranks and S bytes takes at least latency + S · traffic factor ÷ bandwidth.
struct SimulatedLink {
  double latency_us = 0;
  double gbit_per_s = 0;
  // Each has one such link, and as many ranks as the others, one after another: what stays within
  // one does not pass it. 0: each rank has a link of its own.
  std::int64_t nodes = 0;
  bool operator==(const SimulatedLink&) const = default;
};
base::Result<std::optional<SimulatedLink>> parse_simulated_link(std::string_view text);
// How many groups like this one share a node's link while they all transfer: by so much less fast
// does each. 0: its ranks stand on one node, or it has only one. `world`: of how many ranks it is a
// part. A ring that passes several nodes enters and leaves each once, however many of its ranks
// stand there (NCCL's rings; nccl-tests, doc/PERFORMANCE.md, for what is sent).
std::int64_t link_share(const SimulatedLink& link, const RankGroup& group, std::int64_t world);
// For people: "1 Gbit/s, 100 µs, 2 nodes". What is no link stays as it is.
std::string link_text(std::string_view setting);

enum class InjectedFault : std::uint8_t {
  kDelay,           // delay_ms=…
  kNan,             // the loss becomes NaN
  kOutOfMemory,     // as if an allocation failed
  kHang,            // the rank's training thread stops moving
  kExit,            // the process leaves at once
  kSkipCollective,  // the rank leaves one collective out
  kUnequalSize,     // the rank enters one collective with another size
};

// "rank=1,step=5,phase=backward,delay_ms=100"; several separated by ";". `every=1` repeats a fault
// from `step` on. Default phase: forward.
struct Injection {
  int rank = 0;
  std::int64_t step = 0;
  bool repeats = false;
  base::Phase phase = base::Phase::kForward;
  InjectedFault fault = InjectedFault::kDelay;
  double delay_ms = 0;
};
base::Result<std::vector<Injection>> parse_injections(std::string_view text);

}  // namespace shardlens::trace::job
