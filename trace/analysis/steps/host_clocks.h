// How far the clocks of a run's ranks may be apart. Ranks of one host have one clock; between
// others the collectives that both took part in tell it. Any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "trace/model/events.h"
#include "trace/model/one_clock.h"

namespace shardlens::trace::analysis {

inline constexpr std::int64_t kUnknownClockError = std::numeric_limits<std::int64_t>::max();

struct RankHost {
  int rank = 0;
  std::string name;  // "": not known, so that it may be any
};

// One clock minus another: at any moment of the run not outside of these.
struct ClockRange {
  std::int64_t least_ns = std::numeric_limits<std::int64_t>::min();
  std::int64_t most_ns = kUnknownClockError;

  bool is_known() const;
  void narrow(const ClockRange& by);
};

// One rank's clock minus the first rank's.
struct RankClock : ClockRange {
  RankHost host;

  // The greatest difference that is possible; 0: one clock; kUnknownClockError: nothing tells.
  std::int64_t error_ns() const;
};

// What is told of the clocks of a call's ranks.
struct CallClocks {
  // No shorter wait is believed; kUnknownClockError: nothing tells; 0: they have one clock.
  std::int64_t error_ns = 0;
  bool are_contradicted = false;  // that they have one: when all had come to one is not known

  bool tell_transfers() const { return error_ns != kUnknownClockError && !are_contradicted; }
};

// The clocks of a run's hosts, connected by what tells most of them. Immutable, any thread.
class HostClocks {
 public:
  const std::vector<RankClock>& ranks() const { return ranks_; }
  // Between any two of these ranks that are known to run on different hosts, by their names or as
  // calls contradict one clock: no shorter wait of one for the other can be believed. −1: no two
  // are; kUnknownClockError: nothing connects two of them.
  std::int64_t error_between_hosts(std::span<const int> ranks) const;
  std::int64_t error_between_hosts() const;  // of all ranks
  CallClocks of_call(std::span<const int> ranks) const;
  // All of `clocks`, a HostClocks that may be const, for a cache (trace/store/run/kept_values.h).
  template <typename Cache, typename Clocks>
  static void each_value_of_clocks(Cache& cache, Clocks& clocks);
  // What comes back from one can be asked.
  bool is_sound() const;

 private:
  friend class ClockMeetings;
  struct Clock {
    bool has_name = false;
    bool is_apart = false;   // as calls with others say
    int tree = 0;            // those of one are connected
    int parent = -1;         // in its tree
    ClockRange from_parent;  // minus that one's clock
    ClockRange from_root;    // minus its tree's first one's
  };
  class Links;
  struct Growth;  // of the trees
  // How far one is ahead of another at most, within a part of a tree.
  struct Spread;

  std::vector<RankClock> ranks_;
  std::map<int, std::size_t> clock_of_;  // by rank
  std::vector<Clock> clocks_;            // parents before children
};

template <typename Cache, typename Clocks>
void HostClocks::each_value_of_clocks(Cache& cache, Clocks& clocks) {
  cache.list(clocks.ranks_, [&](auto& clock) {
    each_value(cache, clock.least_ns, clock.most_ns, clock.host.rank, clock.host.name);
  });
  std::vector<std::pair<int, std::size_t>> clock_of(clocks.clock_of_.begin(),
                                                    clocks.clock_of_.end());
  cache.list(clock_of, [&](auto& of) { each_value(cache, of.first, of.second); });
  if constexpr (!std::is_const_v<Clocks>) clocks.clock_of_ = {clock_of.begin(), clock_of.end()};
  cache.plain(clocks.clocks_);
}

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
  // Learns from two ranks' parts of one call. The calls of two ranks must come in about the order
  // in which they were made.
  void add(model::CollectiveFunction function, const Part& first, const Part& other);
  // Learns from all parts of one call, each compared with the first. A part has a rank, start_ns
  // and end_ns.
  void add_call(model::CollectiveFunction function, const auto& parts) {
    const auto& first = parts.front();
    for (const auto& part : parts) {
      if (part.rank == first.rank) continue;
      add(function, {first.rank, first.start_ns, first.end_ns},
          {part.rank, part.start_ns, part.end_ns});
    }
  }

  // Of `ranks`, the first of which the others are held against. Those that never met are reached
  // over others, by the way with the least error, which is the sum of those along it.
  HostClocks clocks(std::span<const RankHost> ranks) const;

 private:
  // What the calls of two ranks tell of their clocks.
  class Meeting {
   public:
    void add(const Part& first, const Part& other);
    ClockRange range() const;
    bool contradicts_one_clock() const { return contradictions_.were_found(); }

   private:
    void widen(const ClockRange& by);

    ClockRange widest_{std::numeric_limits<std::int64_t>::max(),
                       std::numeric_limits<std::int64_t>::min()};
    ClockRange stretch_, last_;
    int calls_ = 0;
    model::ClockContradictions contradictions_;
  };

  std::map<std::pair<int, int>, Meeting> meetings_;  // of the lower rank with the other
};

}  // namespace shardlens::trace::analysis
