#include "trace/analysis/collectives/recent_collectives.h"

#include <tuple>

#include "trace/model/collective_fields.h"

namespace shardlens::trace::analysis {

namespace {
constexpr std::size_t kKeptCollectives = 1024;  // a bound on what nonsense can make us keep
}

void RecentCollectives::add(const model::Collective& collective) {
  const auto order = [](const model::Collective& c) {
    return std::make_tuple(c.end_ns, c.sequence);
  };
  if (!last_ || order(collective) > order(*last_)) last_ = collective;
  // One of those of which not even the group is known tells that there are such.
  if (collective.sequence < 0 && collective.process_group >= 0) return;
  if (by_group_.size() >= kKeptCollectives && !by_group_.contains(collective.process_group)) return;
  auto& group = by_group_[collective.process_group];
  group.emplace(collective.sequence, collective);
  if (group.size() > kKeptPerGroup) group.erase(group.begin());
}

void RecentCollectives::add(const model::PendingCollective& ended) {
  model::Collective row;
  row.rank = ended.rank;
  model::set_call(row, ended);
  model::set_entry(row, ended);
  row.start_ns = ended.enqueued_ns;
  row.end_ns = ended.end_ns;
  add(row);
}

std::vector<model::Collective> RecentCollectives::all() const {
  std::vector<model::Collective> result;
  for (const auto& [id, group] : by_group_) {
    for (const auto& [sequence, collective] : group) result.push_back(collective);
  }
  return result;
}

}  // namespace shardlens::trace::analysis
