// What collectives take whatever their size, and for each byte, from transfers of several sizes.
// Any thread.
#pragma once

#include <functional>
#include <optional>

#include "trace/advice/facts/run_facts.h"

namespace shardlens::trace::advice {

struct LatencyFit {  // a transfer of S bytes takes latency + S × per byte
  double latency_ns = 0, ns_per_byte = 0;

  double of(double bytes) const { return latency_ns + bytes * ns_per_byte; }
  // The size of which the latency is that share of the time.
  double bytes_with_latency_share(double share) const {
    return latency_ns * (1 - share) / share / ns_per_byte;
  }
};

// By least squares, each row of the table of collectives as often as it was matched over the ranks.
// None: no two sizes a factor of two apart, or times that do not grow with sizes.
std::optional<LatencyFit> fit_latency(
    const RunFacts& run,
    const std::function<bool(const analysis::CollectiveGroupFigures&)>& counts);

}  // namespace shardlens::trace::advice
