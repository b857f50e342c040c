#include "trace/predict/costs/matched_calls.h"

#include <algorithm>

namespace shardlens::trace::predict {

void MatchedCalls::add(const model::ProcessGroup& group) {
  if (group.ranks.empty()) return;
  groups_[{group.rank, group.id}] = {group.ranks.front(), static_cast<int>(group.ranks.size())};
}

MatchedCalls::Key MatchedCalls::add(const model::Collective& call) {
  const auto group = groups_.try_emplace({call.rank, call.process_group}, Group{0, ranks_}).first;
  const auto& [first_rank, size] = group->second;
  const Key key{call.process_group, first_rank, call.sequence};
  Call& all = calls_[key];
  all.kind = {call.function, size};
  ++all.told;
  all.bytes = call.bytes;
  all.latest_start_ns = std::max(all.latest_start_ns, call.start_ns);
  all.end_ns = std::max(all.end_ns, call.end_ns);
  all.first_end_ns = std::min(all.first_end_ns, call.end_ns);
  return key;
}

bool MatchedCalls::contradict_one_clock() const {
  constexpr std::int64_t kSameNs = 50'000;  // as near as a profiler knows a GPU's times
  std::size_t told = 0, contradicting = 0;
  for (const auto& [key, call] : calls_) {
    if (call.told != call.kind.ranks || call.kind.function != model::CollectiveFunction::kAllReduce)
      continue;
    ++told;
    if (call.first_end_ns + kSameNs < call.latest_start_ns) ++contradicting;
  }
  return 10 * contradicting > told;
}

MeasuredCollectives MatchedCalls::measured(const Counts& counts) const {
  MeasuredCollectives measured;
  for (const auto& [key, call] : calls_) {
    if (!call.is_whole() || !counts(key, call)) continue;
    measured[call.kind][static_cast<double>(call.bytes)].push_back(
        static_cast<double>(call.transfer_ns()));
  }
  return measured;
}

}  // namespace shardlens::trace::predict
