// How far the clocks of a run's ranks may be apart. Ranks of one host have one clock; between
// others the collectives that both took part in tell it. Any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trace/model/events.h"

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

// What the calls that two ranks both took part in tell of their clocks. One owner.
//
// An all-reduce, all-gather, reduce-scatter, all-to-all or barrier ends on no rank before it began
// on all of them. Hence a clock that is d ahead gives start − end' ≤ d ≤ end − start', where the
// dashed times are the other rank's; many calls one after the other narrow it down to about the
// shortest of them (F. Cristian, Probabilistic clock synchronization, 1989, has the same bound for
// messages). It is narrowed among 64 calls in a row, over which clocks do not drift, and the widest
// of all those stretches holds.
class ClockMeetings {
 public:
  struct Part {
    int rank = 0;
    std::int64_t start_ns = 0, end_ns = 0;
  };
  // Of one call; those of two ranks in about the order in which they were.
  void add(CollectiveFunction function, const Part& first, const Part& other);

  // By `ranks`, whose first one is what the others are held against. Ranks that never met it are
  // reached over others.
  std::vector<RankClock> clocks(std::span<const RankHost> ranks) const;

 private:
  struct Range {
    std::int64_t least_ns = std::numeric_limits<std::int64_t>::min();
    std::int64_t most_ns = std::numeric_limits<std::int64_t>::max();

    void narrow(const Range& by);
  };
  // Of two ranks, from their calls in order.
  class Meeting {
   public:
    void add(const Part& first, const Part& other);
    Range range() const;

   private:
    void widen(const Range& by);

    Range widest_{std::numeric_limits<std::int64_t>::max(),
                  std::numeric_limits<std::int64_t>::min()};
    Range stretch_, last_;
    int calls_ = 0;
  };
  using Links = std::map<int, std::map<int, Range>>;  // of the second minus the first rank

  static void link(Links& links, int first, int second, const Range& range);
  static void link_hosts(Links& links, std::span<const RankHost> ranks);
  static std::map<int, Range> reach(const Links& links, int from);

  std::map<std::pair<int, int>, Meeting> meetings_;  // of the lower rank with the other
};

// Between any two ranks that are known to run on different hosts: no shorter wait of one for the
// other can be believed. −1 where no two are.
std::int64_t error_between_hosts(std::span<const RankClock> clocks);

}  // namespace shardlens::trace
