// How far the clocks of a run's ranks may be apart. Ranks of one host have one clock; between
// others the collectives that both took part in tell it. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "trace/timeline/collective_calls.h"

namespace shardlens::trace {

inline constexpr std::int64_t kUnknownClockError = std::numeric_limits<std::int64_t>::max();

struct RankHost {
  int rank = 0;
  std::string name;  // "": not known, so that it may be any
};

// One rank's clock minus the first rank's: at any moment of the run not outside of these.
struct RankClock {
  RankHost host;
  std::int64_t least_ns = std::numeric_limits<std::int64_t>::min();
  std::int64_t most_ns = kUnknownClockError;

  // The greatest difference that is possible; 0: one clock; kUnknownClockError: nothing tells.
  std::int64_t error_ns() const;
};

// By `ranks`, whose first one is what the others are held against.
//
// An all-reduce, all-gather, reduce-scatter, all-to-all or barrier ends on no rank before it began
// on all of them. Hence a clock that is d ahead gives start − end' ≤ d ≤ end − start', where the
// dashed times are the other rank's; many calls one after the other narrow it down to about the
// shortest of them (F. Cristian, Probabilistic clock synchronization, 1989, has the same bound for
// messages). It is narrowed among 64 calls in a row, over which clocks do not drift, and the widest
// of all those stretches holds. Ranks that never met the first one are reached over others.
std::vector<RankClock> rank_clocks(std::span<const RankHost> ranks, const CollectiveCalls& calls);

// Between any two ranks that are known to run on different hosts: no shorter wait of one for the
// other can be believed. −1 where no two are.
std::int64_t error_between_hosts(std::span<const RankClock> clocks);

}  // namespace shardlens::trace
