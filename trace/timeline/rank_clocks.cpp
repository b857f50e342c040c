#include "trace/timeline/rank_clocks.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "trace/model/saturated.h"

namespace shardlens::trace {

namespace {

constexpr int kStretch = 64;  // calls
constexpr std::int64_t kEarliest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLatest = std::numeric_limits<std::int64_t>::max();

struct ClockRange {
  std::int64_t least_ns = kEarliest, most_ns = kLatest;

  void narrow(const ClockRange& by) {
    least_ns = std::max(least_ns, by.least_ns);
    most_ns = std::min(most_ns, by.most_ns);
  }
};

// Of two ranks, from their calls in order.
class ClockMeeting {
 public:
  void add(const CollectivePart& first, const CollectivePart& other) {
    stretch_.narrow({saturated_difference(other.start_ns, first.end_ns),
                     saturated_difference(other.end_ns, first.start_ns)});
    if (++calls_ < kStretch) return;
    widen(stretch_);
    last_ = std::exchange(stretch_, {});
    calls_ = 0;
  }
  ClockRange range() const {
    ClockMeeting all = *this;
    ClockRange rest = stretch_;
    rest.narrow(last_);  // too few calls of their own
    all.widen(rest);
    return all.widest_;
  }

 private:
  // A clock that was set in between contradicts itself; either may hold then.
  void widen(const ClockRange& by) {
    widest_.least_ns = std::min({widest_.least_ns, by.least_ns, by.most_ns});
    widest_.most_ns = std::max({widest_.most_ns, by.least_ns, by.most_ns});
  }

  ClockRange widest_{kLatest, kEarliest};
  ClockRange stretch_, last_;
  int calls_ = 0;
};

bool ends_after_all_began(CollectiveFunction function) {
  switch (function) {
    case CollectiveFunction::kAllReduce:
    case CollectiveFunction::kReduceScatter:
    case CollectiveFunction::kAllGather:
    case CollectiveFunction::kAllToAll:
    case CollectiveFunction::kBarrier:
      return true;
    default:
      return false;
  }
}

using ClockLinks = std::map<int, std::map<int, ClockRange>>;  // of the second minus the first rank

void link(ClockLinks& links, int first, int second, const ClockRange& range) {
  links[first].try_emplace(second, range);
  links[second].try_emplace(first, ClockRange{saturated_difference(0, range.most_ns),
                                              saturated_difference(0, range.least_ns)});
}

void link_hosts(ClockLinks& links, std::span<const RankHost> ranks) {
  std::map<std::string, int> first_of;
  for (const RankHost& host : ranks) {
    if (host.name.empty()) continue;
    const auto [first, is_new] = first_of.try_emplace(host.name, host.rank);
    if (!is_new) link(links, first->second, host.rank, {0, 0});
  }
}

void link_calls(ClockLinks& links, const CollectiveCalls& calls) {
  std::map<std::pair<int, int>, ClockMeeting> meetings;
  calls.for_each_call([&](std::span<const CollectivePart> parts) {
    const CollectivePart& first = parts.front();
    if (!ends_after_all_began(first.function) || first.end_ns < first.start_ns) return;
    for (const CollectivePart& part : parts.subspan(1)) {
      if (part.end_ns >= part.start_ns) meetings[{first.rank, part.rank}].add(first, part);
    }
  });
  for (const auto& [ranks, meeting] : meetings) {
    link(links, ranks.first, ranks.second, meeting.range());
  }
}

// Over as few links as it takes: each adds its error.
std::map<int, ClockRange> reach(const ClockLinks& links, int from) {
  std::map<int, ClockRange> reached{{from, {0, 0}}};
  for (std::deque<int> next{from}; !next.empty(); next.pop_front()) {
    const auto around = links.find(next.front());
    if (around == links.end()) continue;
    const ClockRange here = reached.at(next.front());
    for (const auto& [rank, range] : around->second) {
      const ClockRange there{saturated_add(here.least_ns, range.least_ns),
                             saturated_add(here.most_ns, range.most_ns)};
      if (reached.try_emplace(rank, there).second) next.push_back(rank);
    }
  }
  return reached;
}

std::int64_t largest(std::int64_t least_ns, std::int64_t most_ns) {
  if (least_ns == kEarliest || most_ns == kLatest) return kUnknownClockError;
  return std::max(saturated_difference(0, least_ns), most_ns);
}

}  // namespace

std::int64_t RankClock::error_ns() const { return largest(least_ns, most_ns); }

std::vector<RankClock> rank_clocks(std::span<const RankHost> ranks, const CollectiveCalls& calls) {
  std::vector<RankClock> clocks;
  if (ranks.empty()) return clocks;
  ClockLinks links;
  link_hosts(links, ranks);
  link_calls(links, calls);
  const auto reached = reach(links, ranks.front().rank);
  for (const RankHost& host : ranks) {
    const auto found = reached.find(host.rank);
    const ClockRange range = found == reached.end() ? ClockRange{} : found->second;
    clocks.push_back({host, range.least_ns, range.most_ns});
  }
  return clocks;
}

std::int64_t error_between_hosts(std::span<const RankClock> clocks) {
  std::map<std::string, const RankClock*> hosts;
  for (const RankClock& clock : clocks) {
    if (!clock.host.name.empty()) hosts.try_emplace(clock.host.name, &clock);
  }
  std::int64_t error_ns = -1;
  for (auto a = hosts.begin(); a != hosts.end(); ++a) {
    for (auto b = std::next(a); b != hosts.end(); ++b) {
      const RankClock &one = *a->second, &other = *b->second;
      const bool is_known =
          one.error_ns() != kUnknownClockError && other.error_ns() != kUnknownClockError;
      if (!is_known) continue;  // they share no call to wait in
      error_ns = std::max(error_ns, largest(saturated_difference(one.least_ns, other.most_ns),
                                            saturated_difference(one.most_ns, other.least_ns)));
    }
  }
  return error_ns;
}

}  // namespace shardlens::trace
