#include "trace/analysis/steps/host_clocks.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "trace/base/saturated.h"

namespace shardlens::trace::analysis {

namespace {

constexpr int kStretch = 64;  // calls
constexpr std::int64_t kEarliest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLatest = std::numeric_limits<std::int64_t>::max();

ClockRange reversed(const ClockRange& range) {
  return {base::saturated_difference(0, range.most_ns),
          base::saturated_difference(0, range.least_ns)};
}

ClockRange sum_of(const ClockRange& a, const ClockRange& b) {
  return {base::saturated_add(a.least_ns, b.least_ns), base::saturated_add(a.most_ns, b.most_ns)};
}

std::int64_t width_of(const ClockRange& range) {
  return base::saturated_difference(range.most_ns, range.least_ns);
}

}  // namespace

// Which clocks share calls; each host's is one, and that of a rank whose host is not known.
class HostClocks::Links {
 public:
  int clock_of(int rank) {
    return of_rank_.try_emplace(rank, static_cast<int>(of_rank_.size())).first->second;
  }
  int clock_of(const RankHost& host) {
    if (host.name.empty()) return clock_of(host.rank);
    const int clock = of_name_.try_emplace(host.name, clock_of(host.rank)).first->second;
    return of_rank_[host.rank] = clock;
  }

  // Of two ranks: the second clock minus the first. Of several links the narrowest counts.
  void link(int first, int second, const ClockRange& range) {
    const int from = clock_of(first), to = clock_of(second);
    if (from == to || !range.is_known()) return;
    put(from, to, range);
    put(to, from, reversed(range));
  }

  const std::map<int, ClockRange>& around(int clock) const {
    static const std::map<int, ClockRange> kNone;
    const auto found = links_.find(clock);
    return found == links_.end() ? kNone : found->second;
  }

 private:
  void put(int from, int to, const ClockRange& range) {
    const auto [link, is_new] = links_[from].try_emplace(to, range);
    if (!is_new && width_of(range) < width_of(link->second)) link->second = range;
  }

  std::map<int, int> of_rank_;
  std::map<std::string, int> of_name_;
  std::map<int, std::map<int, ClockRange>> links_;
};

bool ClockRange::is_known() const { return least_ns != kEarliest && most_ns != kLatest; }

void ClockRange::narrow(const ClockRange& by) {
  least_ns = std::max(least_ns, by.least_ns);
  most_ns = std::min(most_ns, by.most_ns);
}

std::int64_t RankClock::error_ns() const {
  return is_known() ? std::max(base::saturated_difference(0, least_ns), most_ns)
                    : kUnknownClockError;
}

void ClockMeetings::Meeting::add(const Part& first, const Part& other) {
  contradictions_.add(std::min(first.end_ns, other.end_ns),
                      std::max(first.start_ns, other.start_ns));
  stretch_.narrow({base::saturated_difference(other.start_ns, first.end_ns),
                   base::saturated_difference(other.end_ns, first.start_ns)});
  if (++calls_ < kStretch) return;
  widen(stretch_);
  last_ = std::exchange(stretch_, {});
  calls_ = 0;
}

ClockRange ClockMeetings::Meeting::range() const {
  Meeting all = *this;
  ClockRange rest = stretch_;
  rest.narrow(last_);  // too few calls of their own
  all.widen(rest);
  return all.widest_;
}

// A clock that was set in between contradicts itself; either may hold then.
void ClockMeetings::Meeting::widen(const ClockRange& by) {
  widest_.least_ns = std::min({widest_.least_ns, by.least_ns, by.most_ns});
  widest_.most_ns = std::max({widest_.most_ns, by.least_ns, by.most_ns});
}

void ClockMeetings::add(model::CollectiveFunction function, const Part& first, const Part& other) {
  if (!model::ends_after_all_began(function)) return;
  if (first.end_ns < first.start_ns || other.end_ns < other.start_ns) return;
  const bool in_order = first.rank < other.rank;
  const Part &lower = in_order ? first : other, &upper = in_order ? other : first;
  meetings_[{lower.rank, upper.rank}].add(lower, upper);
}

// Dijkstra's shortest paths, the length of which is how far a difference is from being known.
struct HostClocks::Growth {
  struct Hop {
    std::int64_t length = 0;
    int clock = 0, parent = -1;  // in links, in `result`
    ClockRange from_parent;
    bool operator>(const Hop& other) const {
      return std::tie(length, clock) > std::tie(other.length, other.clock);
    }
  };

  const Links& links;
  std::vector<Clock>& result;
  std::map<int, std::size_t> place = {};  // in `result`, by clock

  // Adds `root` and every clock that collectives link it to, directly or through others.
  void add_tree(int root) {
    std::priority_queue<Hop, std::vector<Hop>, std::greater<>> next;
    const int tree = static_cast<int>(result.size());
    for (next.push({0, root, -1, {0, 0}}); !next.empty();) {
      const Hop hop = next.top();
      next.pop();
      if (!place.try_emplace(hop.clock, result.size()).second) continue;
      const int here = static_cast<int>(result.size());
      const ClockRange from_root =
          hop.parent < 0
              ? hop.from_parent
              : sum_of(result[static_cast<std::size_t>(hop.parent)].from_root, hop.from_parent);
      result.push_back({.tree = tree,
                        .parent = hop.parent,
                        .from_parent = hop.from_parent,
                        .from_root = from_root});
      for (const auto& [to, range] : links.around(hop.clock)) {
        if (place.contains(to)) continue;
        next.push({base::saturated_add(hop.length, width_of(range)), to, here, range});
      }
    }
  }
};

HostClocks ClockMeetings::clocks(std::span<const RankHost> ranks) const {
  HostClocks result;
  HostClocks::Links links;
  for (const RankHost& host : ranks) links.clock_of(host);
  std::set<int> apart;
  for (const auto& [pair, meeting] : meetings_) {
    links.link(pair.first, pair.second, meeting.range());
    const int first = links.clock_of(pair.first), second = links.clock_of(pair.second);
    if (first != second && meeting.contradicts_one_clock()) apart.insert({first, second});
  }
  HostClocks::Growth growth{links, result.clocks_};
  for (const RankHost& host : ranks) {
    const int number = links.clock_of(host);
    growth.add_tree(number);
    const std::size_t own = growth.place.at(number);
    HostClocks::Clock& clock = result.clocks_[own];
    clock.has_name = clock.has_name || !host.name.empty();
    clock.is_apart = apart.contains(number);
    result.clock_of_[host.rank] = own;
    result.ranks_.push_back({clock.tree == 0 ? clock.from_root : ClockRange{}, host});
  }
  return result;
}

struct HostClocks::Spread {
  // Of the wanted clocks seen so far against this one: the most that one is ahead of it, and
  // behind.
  std::int64_t ahead_ns = kEarliest, behind_ns = kEarliest;

  bool is_empty() const { return ahead_ns == kEarliest; }
};

std::int64_t HostClocks::error_between_hosts(std::span<const int> ranks) const {
  std::vector<Spread> spreads(clocks_.size());
  std::size_t wanted = 0;
  int tree = -1;
  bool are_connected = true;
  for (const int rank : ranks) {
    const auto found = clock_of_.find(rank);
    if (found == clock_of_.end()) continue;
    if (!clocks_[found->second].has_name && !clocks_[found->second].is_apart) continue;
    Spread& spread = spreads[found->second];
    if (!spread.is_empty()) continue;
    spread = {0, 0};
    are_connected = are_connected && (wanted == 0 || clocks_[found->second].tree == tree);
    ++wanted;
    tree = clocks_[found->second].tree;
  }
  if (wanted < 2) return -1;
  if (!are_connected) return kUnknownClockError;
  std::int64_t error_ns = 0;
  for (std::size_t i = clocks_.size(); i-- > 0;) {
    const Clock& clock = clocks_[i];
    if (spreads[i].is_empty() || clock.parent < 0) continue;
    const std::int64_t ahead_ns =
        base::saturated_add(spreads[i].ahead_ns, clock.from_parent.most_ns);
    const std::int64_t behind_ns = base::saturated_add(
        spreads[i].behind_ns, base::saturated_difference(0, clock.from_parent.least_ns));
    Spread& parent = spreads[static_cast<std::size_t>(clock.parent)];
    if (!parent.is_empty()) {
      error_ns = std::max({error_ns, base::saturated_add(ahead_ns, parent.behind_ns),
                           base::saturated_add(behind_ns, parent.ahead_ns)});
    }
    parent.ahead_ns = std::max(parent.ahead_ns, ahead_ns);
    parent.behind_ns = std::max(parent.behind_ns, behind_ns);
  }
  return error_ns;
}

CallClocks HostClocks::of_call(std::span<const int> ranks) const {
  std::set<std::size_t> apart;
  for (const int rank : ranks) {
    const auto found = clock_of_.find(rank);
    if (found != clock_of_.end() && clocks_[found->second].is_apart) apart.insert(found->second);
  }
  return {std::max<std::int64_t>(0, error_between_hosts(ranks)), apart.size() > 1};
}

std::int64_t HostClocks::error_between_hosts() const {
  std::vector<int> all;
  for (const RankClock& rank : ranks_) all.push_back(rank.host.rank);
  return error_between_hosts(all);
}

bool HostClocks::is_sound() const {
  const auto is_behind_its_parent = [&](const Clock& clock) {
    return clock.parent < &clock - clocks_.data();
  };
  return std::ranges::all_of(clocks_, is_behind_its_parent) &&
         std::ranges::all_of(clock_of_, [&](const auto& of) { return of.second < clocks_.size(); });
}

}  // namespace shardlens::trace::analysis
