#include "trace/analysis/steps/communication_lanes.h"

#include <algorithm>
#include <set>
#include <string>

namespace shardlens::trace {

std::vector<CommunicationLane> communication_lanes(const RankTimeline& rank,
                                                   const std::vector<ProcessGroupFigures>& groups) {
  std::set<int> used;
  for (const auto& bar : rank.collectives) used.insert(bar.event.process_group);
  std::vector<CommunicationLane> lanes;
  for (const int id : used) {
    auto& lane = lanes.emplace_back(CommunicationLane{id, "group " + std::to_string(id), {}});
    const auto group = std::ranges::find_if(groups, [&](const ProcessGroupFigures& each) {
      return each.id == id && std::ranges::binary_search(each.ranks, rank.rank);
    });
    if (group == groups.end()) continue;
    if (!group->name.empty()) lane.name = group->name;
    lane.ranks = group->ranks;
  }
  return lanes;
}

}  // namespace shardlens::trace
