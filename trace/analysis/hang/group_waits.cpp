#include "trace/analysis/hang/group_waits.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

namespace shardlens::trace::analysis {

namespace {

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
