// Plays what ranks do, event by event, on one clock: what a schedule is held against. Knows nothing
// of how the program's own scheduler goes about it. Any thread.
#pragma once

#include <cstddef>
#include <vector>

namespace shardlens::trace::predict {

struct PlayedCall {
  std::size_t lane = 0;
  bool follows = false;                    // begins at the end of the one before, at the earliest
  double transfer_ns = 0, working_ns = 0;  // of that, a tenth in each tenth of it
};

struct Deed {
  enum class What { kCompute, kLaunch, kWait };
  What what = What::kCompute;
  double ns = 0;         // to compute
  std::size_t call = 0;  // to launch or to wait for
};

struct PlayedRank {
  double begin_ns = 0;
  std::vector<Deed> deeds;
};

struct Played {
  struct Time {
    double start_ns = 0, end_ns = 0;
  };
  struct Call {
    double ready_ns = 0, start_ns = 0, end_ns = 0;
  };
  std::vector<std::vector<Time>> deeds;  // by rank
  std::vector<Call> calls;

  double end_ns(std::size_t rank) const { return deeds[rank].back().end_ns; }
  // Of what it waited, as it was played.
  double waited_ns(std::size_t rank, const PlayedRank& played) const;
};

// All ranks launch all calls, in their order.
Played play(const std::vector<PlayedRank>& ranks, const std::vector<PlayedCall>& calls,
            double slowdown);

}  // namespace shardlens::trace::predict
