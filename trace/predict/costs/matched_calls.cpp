#include "trace/predict/costs/matched_calls.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include "trace/model/one_clock.h"

namespace shardlens::trace::predict {

void MatchedCalls::add(const model::ProcessGroup& group) {
  if (group.ranks.empty()) return;
  groups_[{group.rank, group.id}] = {group.ranks.front(), static_cast<int>(group.ranks.size()),
                                     group.ranks};
}

int MatchedCalls::ranks_of(const model::Collective& call) const {
  const auto group = groups_.find({call.rank, call.process_group});
  return group == groups_.end() ? ranks_ : group->second.size;
}

MatchedCalls::Key MatchedCalls::add(const model::Collective& call) {
  const auto group = groups_.try_emplace({call.rank, call.process_group}, Group{0, ranks_}).first;
  const Key key{call.process_group, group->second.first_rank, call.sequence};
  Call& all = calls_[key];
  all.kind = {call.function, group->second.size};
  ++all.told;
  all.bytes = call.bytes;
  all.latest_start_ns = std::max(all.latest_start_ns, call.start_ns);
  all.end_ns = std::max(all.end_ns, call.end_ns);
  all.first_end_ns = std::min(all.first_end_ns, call.end_ns);
  return key;
}

bool MatchedCalls::contradict_one_clock() const {
  model::ClockContradictions contradictions;
  for (const auto& [key, call] : calls_) {
    if (call.told != call.kind.ranks || !model::ends_after_all_began(call.kind.function)) continue;
    contradictions.add(call.first_end_ns, call.latest_start_ns);
  }
  return contradictions.were_found();
}

std::map<MatchedCalls::Key, double> MatchedCalls::parts_of_time() const {
  struct Edge {
    int group = 0, first_rank = 0;
    std::int64_t ns = 0;
    bool begins = false;
    Key call;
    auto operator<=>(const Edge&) const = default;
  };
  std::vector<Edge> edges;
  std::map<Key, double> parts;
  for (const auto& [key, call] : calls_) {
    if (!call.is_whole()) continue;
    edges.push_back({key.group, key.first_rank, call.latest_start_ns, true, key});
    edges.push_back({key.group, key.first_rank, call.end_ns, false, key});
    parts[key] = 0;
  }
  std::ranges::sort(edges);
  std::set<Key> running;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Edge& edge = edges[i];
    // One without length ends before it begins.
    const bool is_instant = calls_.at(edge.call).transfer_ns() == 0;
    if (edge.begins && !is_instant) running.insert(edge.call);
    if (!edge.begins) running.erase(edge.call);
    if (running.empty()) continue;
    const double share = static_cast<double>(edges[i + 1].ns - edge.ns) / std::ssize(running);
    for (const Key& call : running) parts[call] += share;
  }
  return parts;
}

// A link takes one call after the other, by when their last ranks started them.
std::map<MatchedCalls::Key, double> MatchedCalls::waits_for_link(const LinkTime& link_ns) const {
  std::vector<std::pair<std::int64_t, Key>> by_start;
  for (const auto& [key, call] : calls_) {
    if (call.is_whole()) by_start.emplace_back(call.latest_start_ns, key);
  }
  std::ranges::sort(by_start);
  std::map<int, double> free_ns;  // by rank
  std::map<Key, double> waits;
  for (const auto& [start_ns, key] : by_start) {
    const Call& call = calls_.at(key);
    const double busy_ns = link_ns(call.kind, static_cast<double>(call.bytes));
    if (busy_ns <= 0) continue;
    const auto start = static_cast<double>(start_ns);
    const Group& group = groups_.at({key.first_rank, key.group});
    for (int i = 0; i < group.size; ++i) {
      const int rank = group.ranks.empty() ? i : group.ranks[static_cast<std::size_t>(i)];
      double& free = free_ns.try_emplace(rank, start).first->second;
      waits[key] = std::max(waits[key], free - start);
      free = std::max(free, start) + busy_ns;
    }
  }
  return waits;
}

std::map<MatchedCalls::Key, double> MatchedCalls::times_ns(const LinkTime& link_ns) const {
  auto times = parts_of_time();
  if (!link_ns) return times;
  for (const auto& [key, wait_ns] : waits_for_link(link_ns)) {
    times[key] = std::max(0.0, times[key] - wait_ns);
  }
  return times;
}

MeasuredCollectives MatchedCalls::measured(const Counts& counts, const LinkTime& link_ns) const {
  MeasuredCollectives measured;
  for (const auto& [key, ns] : times_ns(link_ns)) {
    const Call& call = calls_.at(key);
    if (counts(key, call)) measured[call.kind][static_cast<double>(call.bytes)].push_back(ns);
  }
  return measured;
}

}  // namespace shardlens::trace::predict
