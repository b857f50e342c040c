#include "trace/interop/kineto_groups.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "trace/interop/json/collective_names.h"
#include "trace/interop/marks/call_groups.h"
#include "trace/job/settings/settings.h"

namespace shardlens::trace::interop {

namespace {

// "3" tells nobody that it is a group.
std::string title_of(const std::string& group) {
  const bool is_number = group.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? "group " + group : group;
}

using Backends = std::vector<std::string>;

bool carries(Carrier carrier, const std::string& backend) {
  return is_host_collective(backend + ":") == (carrier == Carrier::kHost);
}

// `otherwise`: where none of them is the carrier's.
std::string backend_of(const Backends& backends, Carrier carrier, std::string_view otherwise) {
  const auto found = std::ranges::find_if(
      backends, [&](const std::string& backend) { return carries(carrier, backend); });
  return found == backends.end() ? std::string(otherwise) : *found;
}

}  // namespace

int GroupNumbers::number_of(const std::string& name, const std::vector<int>& ranks) {
  const int next = static_cast<int>(numbers_.size());
  return numbers_.try_emplace({name, ranks}, next).first->second;
}

bool KinetoGroups::Group::is_open_to(Carrier carrier) const {
  return told.backends.empty() || !backend_of(told.backends, carrier, "").empty();
}

// Of more than 30 PyTorch writes down the first and the last.
std::vector<int> KinetoGroups::members_of(const KinetoJob::Group& group) {
  constexpr std::int64_t kMostTold = 64 * std::int64_t{job::kMostRunRanks};  // by nonsense
  const bool is_whole = group.size <= std::ssize(group.ranks);
  if (is_whole || group.size > world_size_ || told_ + group.size > kMostTold) return group.ranks;
  told_ += group.size;
  std::vector<int> members(static_cast<std::size_t>(group.size), model::kNotKnown);
  if (group.size == world_size_) {
    std::iota(members.begin(), members.end(), 0);
  } else {
    members.back() = rank_;
  }
  return members;
}

int KinetoGroups::add(Group group, std::string_view backend, RowIds& ids) {
  const int place = static_cast<int>(groups_.size());
  group.row.ranks = members_of(group.told);
  group.row.name = ids.intern(group.title);
  group.row.backend = ids.intern(backend);
  groups_.push_back(std::move(group));
  return place;
}

void KinetoGroups::list(const KinetoJob& job, int world_size, bool beside_nccl,
                        std::string_view backend, RowIds& ids) {
  rank_ = job.rank;
  world_size_ = world_size;
  beside_nccl_ = beside_nccl;
  const Carrier carrier = beside_nccl ? Carrier::kGpu : Carrier::kHost;
  const Backends of_job = backends_in(job.backend);
  usual_backend_ = backend_of(of_job, carrier, of_job.empty() ? backend : of_job.front());
  for (const KinetoJob::Group& group : job.groups) {
    const auto [known, is_new] = by_name_.try_emplace(group.name, kNoGroup);
    if (!is_new) continue;
    const bool is_named = !group.description.empty() && group.description != "undefined";
    const std::string_view otherwise =
        group.backends.empty() ? usual_backend_ : group.backends.front();
    known->second = add({group, title_of(is_named ? group.description : group.name)},
                        backend_of(group.backends, carrier, otherwise), ids);
  }
}

void KinetoGroups::list_world(RowIds& ids) {
  by_name_[""] = add({{.size = world_size_}, "world"}, usual_backend_, ids);
}

std::vector<int> KinetoGroups::open_to(Carrier carrier) const {
  std::vector<int> all(groups_.size()), open;
  std::iota(all.begin(), all.end(), 0);
  if (!beside_nccl_) return all;
  std::ranges::copy_if(all, std::back_inserter(open),
                       [&](int group) { return at(group).is_open_to(carrier); });
  return open.empty() ? all : open;
}

int KinetoGroups::named_by(const KinetoEvent& event, RowIds& ids) {
  const auto found = by_name_.find(event.group);
  if (found != by_name_.end()) return found->second;
  std::vector<int> ranks = ranks_in(event.group_ranks);
  if (ranks.empty()) {
    const auto world = by_name_.find("");
    const bool is_default = event.group == "0" || event.group == "default_pg";
    return is_default && world != by_name_.end() ? world->second : kNoGroup;
  }
  // Where nothing tells of which rank a file is, its group may tell that it is of another one.
  const bool is_whole = event.group_ranks.find("...") == std::string::npos;
  if (is_whole && std::ranges::find(ranks, rank_) == ranks.end()) return kNoGroup;
  KinetoJob::Group named{.name = event.group, .ranks = std::move(ranks), .size = event.group_size};
  return by_name_[event.group] = add({std::move(named), title_of(event.group)}, "nccl", ids);
}

int KinetoGroups::part_of(int group, Carrier carrier, RowIds& ids) {
  const bool is_whole = !beside_nccl_ || carrier == Carrier::kGpu || group == kNoGroup;
  if (is_whole || !at(group).is_open_to(Carrier::kGpu)) return group;
  const auto [known, is_new] = host_parts_.try_emplace(group, kNoGroup);
  if (!is_new) return known->second;
  Group part = at(group);
  const std::string backend = backend_of(part.told.backends, Carrier::kHost, "gloo");
  part.told.name += " (" + backend + ")";
  part.title += " (" + backend + ")";
  return known->second = add(std::move(part), backend, ids);
}

void KinetoGroups::move_to(model::Batch& rows, GroupNumbers& numbers) {
  std::vector<int> by_place;
  for (Group& group : groups_) {
    group.row.id = numbers.number_of(group.told.name, group.told.ranks);
    by_place.push_back(group.row.id);
    rows.process_groups.push_back(std::move(group.row));
  }
  for (model::Collective& row : rows.collectives) {
    if (row.process_group == kNoGroup) continue;
    row.process_group = by_place[static_cast<std::size_t>(row.process_group)];
  }
  *this = KinetoGroups();
}

}  // namespace shardlens::trace::interop
