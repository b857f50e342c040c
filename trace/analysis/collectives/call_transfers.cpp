#include "trace/analysis/collectives/call_transfers.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "trace/analysis/steps/collective_calls.h"
#include "trace/base/saturated.h"

namespace shardlens::trace::analysis {

void CallTransfers::add(const model::Batch& batch) {
  for (const auto& string : batch.strings) strings_.add(string);
  for (const auto& group : batch.process_groups) groups_.add(group, strings_);
  if (batch.rank_info) hosts_[batch.rank_info->rank] = batch.rank_info->host;
  for (const model::Collective& call : batch.collectives) {
    const bool counts = call.step >= first_step_ && call.bytes > 0 &&
                        model::is_plausible_size(call.bytes) && call.start_ns <= call.end_ns;
    if (counts) calls_[call.rank].push_back(call);
  }
}

predict::MeasuredCollectives CallTransfers::measured() {
  std::vector<CollectivePart> parts;
  for (const auto& [rank, calls] : calls_) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const model::Collective& call = calls[i];
      const auto& members = groups_.members(call.process_group, rank, ranks_);
      parts.push_back({call.process_group, members.front(), call.sequence, call.function, rank,
                       static_cast<std::uint32_t>(i), call.start_ns, call.end_ns, 0,
                       static_cast<int>(members.size())});
    }
  }
  predict::MeasuredCollectives measured;
  const CollectiveCalls matched(std::move(parts));
  matched.for_each_call([&](std::span<const CollectivePart> call) {
    const CollectivePart& first = call.front();
    if (static_cast<int>(call.size()) != first.members) return;
    std::set<std::string> hosts;
    for (const CollectivePart& part : call) hosts.insert(hosts_[part.rank]);
    if (hosts.size() > 1) return;
    const auto start = std::ranges::max(call, {}, &CollectivePart::start_ns).start_ns;
    const auto end = std::ranges::max(call, {}, &CollectivePart::end_ns).end_ns;
    const std::int64_t bytes = calls_[first.rank][first.index].bytes;
    measured[{first.function, first.members}][static_cast<double>(bytes)].push_back(
        static_cast<double>(base::saturated_difference(end, start)));
  });
  return measured;
}

}  // namespace shardlens::trace::analysis
