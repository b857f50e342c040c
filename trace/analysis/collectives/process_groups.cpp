#include "trace/analysis/collectives/process_groups.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace shardlens::trace::analysis {

namespace {
constexpr int kMostMembers = 65536;
constexpr std::size_t kMostGroups = 65536;
}  // namespace

bool ProcessGroups::add(const model::ProcessGroup& group, const model::StringTable& strings) {
  ProcessGroupFigures figures{group.id, std::string(strings.get(group.rank, group.name)),
                              std::string(strings.get(group.rank, group.backend)), group.ranks};
  std::sort(figures.ranks.begin(), figures.ranks.end());
  const auto told = std::ranges::upper_bound(figures.ranks, model::kNotKnown);
  const auto is_member = std::binary_search(told, figures.ranks.end(), group.rank);
  const auto repeats = std::adjacent_find(told, figures.ranks.end()) != figures.ranks.end();
  if (!is_member || repeats || figures.ranks.front() < model::kNotKnown ||
      figures.ranks.back() >= kMostMembers || figures.ranks.size() > kMostMembers ||
      by_rank_and_id_.size() >= kMostGroups) {
    return false;
  }
  by_rank_and_id_.insert_or_assign({group.rank, group.id}, std::move(figures));
  return true;
}

const std::vector<int>& ProcessGroups::members(int id, int rank, int world_size) {
  if (id < 0) return nobody_;
  const auto found = by_rank_and_id_.find({rank, id});
  if (found != by_rank_and_id_.end()) return found->second.ranks;
  const auto size = static_cast<std::size_t>(std::clamp(world_size, 1, kMostMembers));
  if (world_.size() != size) {
    world_.resize(size);
    std::iota(world_.begin(), world_.end(), 0);
  }
  return world_;
}

std::vector<ProcessGroupFigures> ProcessGroups::figures() const {
  std::vector<ProcessGroupFigures> result;
  std::set<std::pair<int, std::vector<int>>> seen;
  struct Members {
    const ProcessGroupFigures* group = nullptr;
    std::set<int> told;
  };
  std::map<std::pair<int, std::size_t>, Members> partly_known;  // by number and size
  for (const auto& [key, group] : by_rank_and_id_) {
    if (group.ranks.front() == model::kNotKnown) {
      Members& members = partly_known[{group.id, group.ranks.size()}];
      members.group = &group;
      members.told.insert(std::ranges::upper_bound(group.ranks, model::kNotKnown),
                          group.ranks.end());
    } else if (seen.emplace(group.id, group.ranks).second) {
      result.push_back(group);
    }
  }
  for (const auto& [key, members] : partly_known) {
    auto& group = result.emplace_back(*members.group);
    group.ranks.assign(members.told.begin(), members.told.end());
    const std::size_t size = std::max(key.second, group.ranks.size());
    group.ranks.insert(group.ranks.begin(), size - group.ranks.size(), model::kNotKnown);
  }
  return result;
}

}  // namespace shardlens::trace::analysis
