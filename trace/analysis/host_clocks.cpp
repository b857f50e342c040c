#include "trace/analysis/host_clocks.h"

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

std::int64_t largest(std::int64_t least_ns, std::int64_t most_ns) {
  if (least_ns == kEarliest || most_ns == kLatest) return kUnknownClockError;
  return std::max(saturated_difference(0, least_ns), most_ns);
}

}  // namespace

std::int64_t RankClock::error_ns() const { return largest(least_ns, most_ns); }

void ClockMeetings::Range::narrow(const Range& by) {
  least_ns = std::max(least_ns, by.least_ns);
  most_ns = std::min(most_ns, by.most_ns);
}

void ClockMeetings::Meeting::add(const Part& first, const Part& other) {
  stretch_.narrow({saturated_difference(other.start_ns, first.end_ns),
                   saturated_difference(other.end_ns, first.start_ns)});
  if (++calls_ < kStretch) return;
  widen(stretch_);
  last_ = std::exchange(stretch_, {});
  calls_ = 0;
}

ClockMeetings::Range ClockMeetings::Meeting::range() const {
  Meeting all = *this;
  Range rest = stretch_;
  rest.narrow(last_);  // too few calls of their own
  all.widen(rest);
  return all.widest_;
}

// A clock that was set in between contradicts itself; either may hold then.
void ClockMeetings::Meeting::widen(const Range& by) {
  widest_.least_ns = std::min({widest_.least_ns, by.least_ns, by.most_ns});
  widest_.most_ns = std::max({widest_.most_ns, by.least_ns, by.most_ns});
}

void ClockMeetings::add(CollectiveFunction function, const Part& first, const Part& other) {
  if (!ends_after_all_began(function)) return;
  if (first.end_ns < first.start_ns || other.end_ns < other.start_ns) return;
  const bool in_order = first.rank < other.rank;
  const Part &lower = in_order ? first : other, &upper = in_order ? other : first;
  meetings_[{lower.rank, upper.rank}].add(lower, upper);
}

void ClockMeetings::link(Links& links, int first, int second, const Range& range) {
  links[first].try_emplace(second, range);
  links[second].try_emplace(first, Range{saturated_difference(0, range.most_ns),
                                         saturated_difference(0, range.least_ns)});
}

void ClockMeetings::link_hosts(Links& links, std::span<const RankHost> ranks) {
  std::map<std::string, int> first_of;
  for (const RankHost& host : ranks) {
    if (host.name.empty()) continue;
    const auto [first, is_new] = first_of.try_emplace(host.name, host.rank);
    if (!is_new) link(links, first->second, host.rank, {0, 0});
  }
}

// Over as few links as it takes: each adds its error.
std::map<int, ClockMeetings::Range> ClockMeetings::reach(const Links& links, int from) {
  std::map<int, Range> reached{{from, {0, 0}}};
  for (std::deque<int> next{from}; !next.empty(); next.pop_front()) {
    const auto around = links.find(next.front());
    if (around == links.end()) continue;
    const Range here = reached.at(next.front());
    for (const auto& [rank, range] : around->second) {
      const Range there{saturated_add(here.least_ns, range.least_ns),
                        saturated_add(here.most_ns, range.most_ns)};
      if (reached.try_emplace(rank, there).second) next.push_back(rank);
    }
  }
  return reached;
}

std::vector<RankClock> ClockMeetings::clocks(std::span<const RankHost> ranks) const {
  std::vector<RankClock> clocks;
  if (ranks.empty()) return clocks;
  Links links;
  link_hosts(links, ranks);
  for (const auto& [pair, meeting] : meetings_) {
    link(links, pair.first, pair.second, meeting.range());
  }
  const auto reached = reach(links, ranks.front().rank);
  for (const RankHost& host : ranks) {
    const auto found = reached.find(host.rank);
    const Range range = found == reached.end() ? Range{} : found->second;
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
