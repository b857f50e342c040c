#include "trace/analysis/hang/group_calls.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "trace/analysis/figures/labels.h"

namespace shardlens::trace::analysis {

namespace {

template <typename Row>
GroupCall call_of(const Row& row, bool pending, const model::StringTable& strings) {
  GroupCall call;
  call.sequence = row.sequence;
  call.function = row.function;
  call.bytes = row.bytes;
  call.tag = tag_text(row.tag_kind, row.tag_index, strings.get(row.rank, row.tag_name));
  call.phase = row.phase;
  call.step = row.step;
  call.pending = pending;
  return call;
}

// The group that a rank's calls belong to; made if it was never announced.
GroupCalls& group_of(std::vector<GroupCalls>& groups, int id, int rank, std::size_t rank_count) {
  const auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
    return group.group == id && group.by_rank.contains(rank);
  });
  if (found != groups.end()) return *found;
  auto& group = groups.emplace_back();
  group.group = id;
  group.name = "group " + std::to_string(id);
  for (std::size_t i = 0; i < rank_count; ++i) group.by_rank[static_cast<int>(i)];
  return group;
}

std::set<std::int64_t> awaited(const GroupCalls& group, bool has_failed) {
  std::set<std::int64_t> result;
  for (const auto& [rank, calls] : group.by_rank) {
    for (const auto& [sequence, call] : calls) {
      if (call.pending && !was_completed(group, sequence)) result.insert(sequence);
    }
  }
  if (!result.empty()) return {*result.begin()};
  if (!has_failed) return result;
  for (const auto& [rank, calls] : group.by_rank) {
    if (!calls.empty()) result.insert(calls.rbegin()->first);
  }
  return result;
}

std::optional<GroupWait> wait_in(const GroupCalls& group, std::int64_t sequence) {
  GroupWait wait{&group, nullptr, {}, {}};
  for (const auto& [rank, calls] : group.by_rank) {
    if (const auto* own = group.find(rank, sequence)) {
      wait.waiting.push_back(rank);
      wait.call = own;
    } else if (calls.empty() || calls.rbegin()->first < sequence) {
      wait.absent.push_back(rank);
    }
  }
  return wait.call == nullptr ? std::nullopt : std::optional(wait);
}

}  // namespace

const GroupCall* GroupCalls::find(int rank, std::int64_t sequence) const {
  const auto of_rank = by_rank.find(rank);
  if (of_rank == by_rank.end()) return nullptr;
  const auto call = of_rank->second.find(sequence);
  return call == of_rank->second.end() ? nullptr : &call->second;
}

std::vector<GroupCalls> calls_by_group(const RunFigures& figures,
                                       const model::StringTable& strings) {
  std::vector<GroupCalls> groups;
  for (const auto& announced : figures.process_groups) {
    auto& group = groups.emplace_back();
    group.group = announced.id;
    group.name = announced.name.empty() ? "group " + std::to_string(announced.id) : announced.name;
    for (int rank : announced.ranks) {
      if (rank == model::kNotKnown) {
        ++group.untold;
      } else {
        group.by_rank[rank];
      }
    }
  }
  const auto rank_count = figures.ranks.size();
  for (std::size_t i = 0; i < rank_count; ++i) {
    const int rank = static_cast<int>(i);
    for (const auto& row : figures.ranks[i].recent_completed) {
      group_of(groups, row.process_group, rank, rank_count)
          .by_rank[rank]
          .try_emplace(row.sequence, call_of(row, false, strings));
    }
    for (const auto& row : figures.ranks[i].pending) {
      if (row.sequence < 0) continue;
      group_of(groups, row.process_group, rank, rank_count)
          .by_rank[rank]
          .try_emplace(row.sequence, call_of(row, true, strings));
    }
  }
  return groups;
}

bool was_completed(const GroupCalls& group, std::int64_t sequence) {
  return std::any_of(group.by_rank.begin(), group.by_rank.end(), [&](const auto& member) {
    const auto* call = group.find(member.first, sequence);
    return call != nullptr && !call->pending;
  });
}

std::vector<GroupWait> group_waits(const std::vector<GroupCalls>& groups, bool has_failed) {
  std::vector<GroupWait> waits;
  for (const auto& group : groups) {
    for (const auto sequence : awaited(group, has_failed)) {
      if (auto wait = wait_in(group, sequence)) waits.push_back(std::move(*wait));
    }
  }
  return waits;
}

std::vector<int> absent_without_wait(const GroupWait& wait, const std::vector<GroupWait>& waits) {
  std::vector<int> result;
  std::ranges::copy_if(wait.absent, std::back_inserter(result), [&](int rank) {
    return std::ranges::none_of(waits, [&](const GroupWait& other) {
      return other.group != wait.group && !other.absent.empty() &&
             std::ranges::find(other.waiting, rank) != other.waiting.end();
    });
  });
  return result;
}

}  // namespace shardlens::trace::analysis
