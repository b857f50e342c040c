// Process groups of an imported rank: those that its trace lists, and what its collectives name
// besides. One owner.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/interop/json/kineto_event.h"
#include "trace/interop/kineto_job.h"
#include "trace/interop/rank_lanes.h"
#include "trace/model/batch.h"

namespace shardlens::trace::interop {

// Kernels of NCCL, or threads of Gloo.
enum class Carrier : std::uint8_t { kGpu, kHost };

// One number for each group of a job: a trace lists only those of its rank, in their order. Groups
// without a common rank may bear one name.
class GroupNumbers {
 public:
  // `ranks`: as it is listed.
  int number_of(const std::string& name, const std::vector<int>& ranks);

 private:
  std::map<std::pair<std::string, std::vector<int>>, int> numbers_;
};

// Groups by their places here. Where NCCL communicates in the job, what the host carries out in a
// group is of another one with its ranks: its backend counts its calls, too.
class KinetoGroups {
 public:
  // `world_size`: 0 where nothing tells it. `backend`: of groups whose own is not told.
  void list(const KinetoJob& job, int world_size, bool beside_nccl, std::string_view backend,
            RowIds& ids);
  // The only one, where nothing is listed.
  void list_world(RowIds& ids);
  bool empty() const { return groups_.empty(); }
  const std::vector<int>& ranks(int group) const { return at(group).row.ranks; }

  // In which collectives can be that name none. Before what follows.
  std::vector<int> open_to(Carrier carrier) const;
  // What the event names; kNoGroup where nothing tells its ranks.
  int named_by(const KinetoEvent& event, RowIds& ids);
  // Where its collectives count that are carried out so. `group` may be kNoGroup.
  int part_of(int group, Carrier carrier, RowIds& ids);

  // Afterwards this object is empty. The rows' collectives have places as groups.
  void move_to(model::Batch& rows, GroupNumbers& numbers);

 private:
  struct Group {
    KinetoJob::Group told;  // with PyTorch's name
    std::string title;
    model::ProcessGroup row{};

    bool is_open_to(Carrier carrier) const;
  };
  std::vector<int> members_of(const KinetoJob::Group& group);
  int add(Group group, std::string_view backend, RowIds& ids);
  const Group& at(int group) const { return groups_[static_cast<std::size_t>(group)]; }

  int rank_ = -1, world_size_ = 0;
  std::int64_t told_ = 0;  // members of lists that are cut off
  bool beside_nccl_ = false;
  std::string usual_backend_;
  std::vector<Group> groups_;
  std::map<std::string, int> by_name_;
  std::map<int, int> host_parts_;
};

}  // namespace shardlens::trace::interop
