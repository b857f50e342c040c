#include "trace/interop/marks/call_groups.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace shardlens::trace::interop {

namespace {

using Function = model::CollectiveFunction;
using Members = std::vector<int>;

constexpr std::size_t kThreadsOfGroup = 2;      // ProcessGroupGloo::Options of PyTorch 2.11
constexpr std::int64_t kSameNs = 50'000;        // as near as a profiler knows times
constexpr std::int64_t kDriftOfClocks = 1'000;  // one part in so many: two that are slewed

bool waits_for_all(Function function) {
  return function == Function::kAllReduce || function == Function::kAllGather ||
         function == Function::kReduceScatter || function == Function::kAllToAll ||
         function == Function::kBarrier;
}

// By how much one rank's clock may be ahead of another's, if the two met in each call.
class ClockDifference {
 public:
  void add(const UnnamedCall& own, const UnnamedCall& other) {
    least_ns_ = std::max(least_ns_, own.start_ns - other.end_ns);
    most_ns_ = std::min(most_ns_, own.end_ns - other.start_ns);
    first_ns_ = std::min(first_ns_, own.start_ns);
    last_ns_ = std::max(last_ns_, own.end_ns);
  }
  bool is_possible() const {
    if (first_ns_ > last_ns_) return true;  // none was added
    return least_ns_ - most_ns_ <= std::max(kSameNs, (last_ns_ - first_ns_) / kDriftOfClocks);
  }

 private:
  std::int64_t least_ns_ = INT64_MIN / 2, most_ns_ = INT64_MAX / 2;
  std::int64_t first_ns_ = INT64_MAX, last_ns_ = INT64_MIN;
};

// The calls that some threads carried out: of one group on each rank.
struct Pool {
  struct OfRank {
    std::set<std::string> threads;
    std::map<std::int64_t, const UnnamedCall*> calls;  // by place
    std::set<std::size_t> may_be;                      // places among the rank's groups
    std::set<std::size_t> could_meet;                  // of them all, as far as times tell
  };
  std::map<std::size_t, OfRank> ranks;  // by place among the ranks
};

class GroupSearch {
 public:
  explicit GroupSearch(std::span<const UnnamedCalls> ranks) : ranks_(ranks) {
    for (std::size_t i = 0; i < ranks_.size(); ++i) place_of_[ranks_[i].rank] = i;
    make_pools();
    for (Pool& pool : pools_) {
      list_groups(pool);
      for (const auto& [rank, part] : pool.ranks) {
        most_threads_ = std::max(most_threads_, part.threads.size());
      }
    }
    while (rule_out()) {
    }
  }

  std::vector<int> groups_of(std::size_t rank) const;

 private:
  bool are_of_one_program() const;
  void make_pools();
  std::vector<std::size_t> different_groups(std::size_t rank) const;
  void list_groups(Pool& pool);
  bool could_all_meet(const Pool& pool, const Members& members) const;
  bool rule_out();
  bool rule_out_absent(Pool& pool, std::size_t rank);
  bool rule_out_full(std::size_t rank);

  const Members& members(std::size_t rank, std::size_t group) const {
    return ranks_[rank].groups[group];
  }
  int told_by_sizes(std::size_t rank, std::size_t call, int group_before, bool has_replicas) const;
  int closest(std::size_t rank, std::size_t call, std::int64_t size, int other_than) const;
  bool adds_shards(const UnnamedCalls& of_rank, std::size_t call) const;

  std::span<const UnnamedCalls> ranks_;
  std::map<int, std::size_t> place_of_;
  std::vector<Pool> pools_;
  std::size_t most_threads_ = kThreadsOfGroup;     // of any group
  std::vector<std::vector<std::size_t>> pool_of_;  // by rank and call
};

// Calls at the same place are the same on all ranks.
bool GroupSearch::are_of_one_program() const {
  std::map<std::int64_t, std::tuple<Function, Function, std::int64_t>> known;
  for (const UnnamedCalls& rank : ranks_) {
    for (const UnnamedCall& call : rank.calls) {
      const std::tuple what(call.asked, call.executed, call.elements);
      if (known.try_emplace(call.place, what).first->second != what) return false;
    }
  }
  return true;
}

// Threads that carried out the same call on two ranks are of one pool.
void GroupSearch::make_pools() {
  const bool is_one_program = are_of_one_program();
  std::vector<std::size_t> parents;
  const auto root = [&](std::size_t node) {
    while (parents[node] != node) node = parents[node] = parents[parents[node]];
    return node;
  };
  const auto new_node = [&] {
    parents.push_back(parents.size());
    return parents.back();
  };
  std::map<std::pair<std::size_t, std::string>, std::size_t> of_thread;
  std::map<std::int64_t, std::size_t> of_place;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    for (const UnnamedCall& call : ranks_[i].calls) {
      const auto [thread, is_new] = of_thread.try_emplace({i, call.thread}, 0);
      if (is_new) thread->second = new_node();
      if (!is_one_program) continue;
      const auto place = of_place.try_emplace(call.place, thread->second).first;
      parents[root(thread->second)] = root(place->second);
    }
  }
  std::map<std::size_t, std::size_t> pool_of_root;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    auto& own = pool_of_.emplace_back();
    for (const UnnamedCall& call : ranks_[i].calls) {
      const std::size_t node = root(of_thread.at({i, call.thread}));
      const auto [pool, is_new] = pool_of_root.try_emplace(node, pools_.size());
      if (is_new) pools_.emplace_back();
      Pool::OfRank& part = pools_[pool->second].ranks[i];
      part.threads.insert(call.thread);
      part.calls.emplace(call.place, &call);
      own.push_back(pool->second);
    }
  }
}

bool GroupSearch::could_all_meet(const Pool& pool, const Members& members) const {
  const Pool::OfRank* first = nullptr;
  for (const int member : members) {
    const auto place = place_of_.find(member);
    if (place == place_of_.end()) continue;
    const auto part = pool.ranks.find(place->second);
    if (part == pool.ranks.end()) continue;
    if (first == nullptr) {
      first = &part->second;
      continue;
    }
    ClockDifference difference;
    for (const auto& [at, call] : part->second.calls) {
      const auto same = first->calls.find(at);
      if (same == first->calls.end() || !waits_for_all(call->executed)) continue;
      difference.add(*same->second, *call);
    }
    if (!difference.is_possible()) return false;
  }
  return true;
}

// Of several with the same ranks the first: no figure tells which it was.
std::vector<std::size_t> GroupSearch::different_groups(std::size_t rank) const {
  std::set<Members> seen;
  std::vector<std::size_t> groups;
  for (std::size_t group = 0; group < ranks_[rank].groups.size(); ++group) {
    const Members& ranks = members(rank, group);
    const bool is_member = std::ranges::find(ranks, ranks_[rank].rank) != ranks.end();
    if (is_member && seen.insert(ranks).second) groups.push_back(group);
  }
  return groups;
}

void GroupSearch::list_groups(Pool& pool) {
  std::map<Members, bool> could_meet;
  for (auto& [rank, part] : pool.ranks) {
    const auto groups = different_groups(rank);
    for (const std::size_t group : groups) {
      const Members& ranks = members(rank, group);
      const auto [known, is_new] = could_meet.try_emplace(ranks, true);
      if (is_new && groups.size() > 1) known->second = could_all_meet(pool, ranks);
      if (!known->second) continue;
      part.could_meet.insert(group);
      const bool is_of_size = std::ranges::all_of(part.calls, [&](const auto& call) {
        return call.second->ranks == 0 || call.second->ranks == std::ssize(ranks);
      });
      if (is_of_size) part.may_be.insert(group);
    }
  }
}

// A group of which another recorded member says that it was not.
bool GroupSearch::rule_out_absent(Pool& pool, std::size_t rank) {
  const auto may_be = [&](int member, const Members& ranks) {
    const auto place = place_of_.find(member);
    if (place == place_of_.end()) return true;
    const auto part = pool.ranks.find(place->second);
    if (part == pool.ranks.end()) return true;
    return std::ranges::any_of(part->second.may_be, [&](std::size_t group) {
      return members(place->second, group) == ranks;
    });
  };
  return std::erase_if(pool.ranks.at(rank).may_be, [&](std::size_t group) {
           const Members& ranks = members(rank, group);
           return !std::ranges::all_of(ranks, [&](int member) { return may_be(member, ranks); });
         }) > 0;
}

// A group whose threads are all known has no others.
bool GroupSearch::rule_out_full(std::size_t rank) {
  std::map<std::size_t, std::size_t> threads;  // by group
  for (const Pool& pool : pools_) {
    const auto part = pool.ranks.find(rank);
    if (part == pool.ranks.end() || part->second.may_be.size() != 1) continue;
    threads[*part->second.may_be.begin()] += part->second.threads.size();
  }
  bool has_changed = false;
  for (Pool& pool : pools_) {
    const auto part = pool.ranks.find(rank);
    if (part == pool.ranks.end() || part->second.may_be.size() < 2) continue;
    has_changed |= std::erase_if(part->second.may_be, [&](std::size_t group) {
                     const auto known = threads.find(group);
                     return known != threads.end() &&
                            known->second + part->second.threads.size() > most_threads_;
                   }) > 0;
  }
  return has_changed;
}

bool GroupSearch::rule_out() {
  bool has_changed = false;
  for (Pool& pool : pools_) {
    for (const auto& [rank, part] : pool.ranks) has_changed |= rule_out_absent(pool, rank);
  }
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) has_changed |= rule_out_full(rank);
  return has_changed;
}

// What is added up right after it was reduced and scattered in a smaller group is what replicas
// have of it.
bool GroupSearch::adds_shards(const UnnamedCalls& of_rank, std::size_t call) const {
  if (call == 0 || of_rank.groups.empty()) return false;
  const UnnamedCall &own = of_rank.calls[call], &before = of_rank.calls[call - 1];
  const std::int64_t shards = before.ranks, all = std::ssize(of_rank.groups.front());
  return own.asked == Function::kAllReduce && own.ranks == 0 &&
         before.asked == Function::kReduceScatter && shards > 0 && shards < all &&
         all % shards == 0 && own.elements == before.elements / shards;
}

// Of those with so many ranks the one whose ranks lie closest: of a mesh of devices its last
// dimension, over which parameters are sharded.
int GroupSearch::closest(std::size_t rank, std::size_t call, std::int64_t size,
                         int other_than) const {
  int found = kNoGroup;
  std::int64_t least = INT64_MAX;
  for (const std::size_t group : pools_[pool_of_[rank][call]].ranks.at(rank).could_meet) {
    const Members& ranks = members(rank, group);
    if (static_cast<int>(group) == other_than || std::ssize(ranks) != size) continue;
    const auto [first, last] = std::ranges::minmax(ranks);
    const std::int64_t distance = std::int64_t{last} - first;
    if (distance >= least) continue;
    found = static_cast<int>(group);
    least = distance;
  }
  return found;
}

int GroupSearch::told_by_sizes(std::size_t rank, std::size_t call, int group_before,
                               bool has_replicas) const {
  const UnnamedCalls& of_rank = ranks_[rank];
  const std::int64_t size = of_rank.calls[call].ranks;
  if (size > 0) {
    const auto& could_meet = pools_[pool_of_[rank][call]].ranks.at(rank).could_meet;
    const auto are_of_size = std::ranges::count_if(
        could_meet, [&](std::size_t group) { return std::ssize(members(rank, group)) == size; });
    return are_of_size == 1 || has_replicas ? closest(rank, call, size, kNoGroup) : kNoGroup;
  }
  if (!adds_shards(of_rank, call)) return kNoGroup;
  const std::int64_t shards = of_rank.calls[call - 1].ranks;
  return closest(rank, call, std::ssize(of_rank.groups.front()) / shards, group_before);
}

std::vector<int> GroupSearch::groups_of(std::size_t rank) const {
  const UnnamedCalls& of_rank = ranks_[rank];
  bool has_replicas = false;
  for (std::size_t call = 0; call < of_rank.calls.size(); ++call) {
    has_replicas = has_replicas || adds_shards(of_rank, call);
  }
  std::vector<int> groups;
  for (std::size_t call = 0; call < of_rank.calls.size(); ++call) {
    const auto& may_be = pools_[pool_of_[rank][call]].ranks.at(rank).may_be;
    groups.push_back(
        may_be.size() == 1
            ? static_cast<int>(*may_be.begin())
            : told_by_sizes(rank, call, groups.empty() ? kNoGroup : groups.back(), has_replicas));
  }
  return groups;
}

}  // namespace

std::vector<std::vector<int>> groups_of_calls(std::span<const UnnamedCalls> ranks) {
  const GroupSearch search(ranks);
  std::vector<std::vector<int>> groups;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) groups.push_back(search.groups_of(rank));
  return groups;
}

}  // namespace shardlens::trace::interop
