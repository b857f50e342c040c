#include "trace/analysis/collectives/call_transfers.h"

#include <set>

#include "trace/predict/costs/matched_calls.h"

namespace shardlens::trace::analysis {

namespace {

bool waits_for_one(model::CollectiveFunction function) {
  return function == model::CollectiveFunction::kSend ||
         function == model::CollectiveFunction::kReceive;
}

}  // namespace

void CallTransfers::add(const model::Batch& batch) {
  groups_.insert(groups_.end(), batch.process_groups.begin(), batch.process_groups.end());
  if (batch.rank_info) hosts_[batch.rank_info->rank] = batch.rank_info->host;
  for (const model::Collective& call : batch.collectives) {
    const bool counts = call.step >= first_step_ && call.sequence >= 0 && call.bytes > 0 &&
                        model::is_plausible_size(call.bytes) && call.start_ns <= call.end_ns &&
                        !waits_for_one(call.function);
    if (counts) calls_.push_back(call);
  }
}

predict::MeasuredCollectives CallTransfers::measured() const {
  using predict::MatchedCalls;
  MatchedCalls matched(ranks_);
  for (const model::ProcessGroup& group : groups_) matched.add(group);
  std::map<MatchedCalls::Key, std::set<std::string>> hosts;
  for (const model::Collective& call : calls_) {
    const auto host = hosts_.find(call.rank);
    hosts[matched.add(call)].insert(host == hosts_.end() ? "" : host->second);
  }
  return matched.measured([&](const MatchedCalls::Key& key, const MatchedCalls::Call&) {
    return hosts.at(key).size() == 1;
  });
}

}  // namespace shardlens::trace::analysis
