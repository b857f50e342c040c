// Collectives of an imported rank: when the host asked for them, what they moved in which process
// group. One owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/interop/json/kineto_event.h"
#include "trace/interop/kineto_groups.h"
#include "trace/interop/kineto_job.h"
#include "trace/interop/kineto_phases.h"
#include "trace/interop/marks/autograd_passes.h"
#include "trace/interop/marks/call_groups.h"
#include "trace/interop/marks/ddp_buckets.h"
#include "trace/interop/marks/fsdp_units.h"
#include "trace/interop/marks/host_calls.h"
#include "trace/interop/rank_lanes.h"
#include "trace/model/batch.h"

namespace shardlens::trace::interop {

// The time of a call that a trace does not hold, until the rows have their base.
inline constexpr std::int64_t kNoCall = INT64_MIN;

// NCCL's kernel, or the time on Gloo's thread.
struct CarriedOut {
  int lane = 0;
  KinetoEvent event;
};

// The job has so many ranks at least, as took part in them; 0: none is named.
int named_ranks(const std::vector<CarriedOut>& collectives);

class KinetoCollectives {
 public:
  // `runs`: all of the rank, with the launches of kernels; either kind of calls as the host made
  // them, Gloo's and NCCL's.
  KinetoCollectives(std::vector<CarriedOut> collectives, const EventRuns& runs,
                    const HostCalls& host_calls, const NcclCalls& nccl_calls, bool on_gpu);

  // When the last of the collectives ended that were asked for in `time` and for which the host
  // waited; at least the end of `time`.
  std::int64_t awaited_ns(const base::Interval& time) const;

  // Those of a carrier that name no group, for groups_of_calls(), each at its place in their order;
  // the rank is left out. After make_groups().
  UnnamedCalls unnamed(Carrier carrier) const;
  // What became of that. As long as nothing tells, they are of no group that is known.
  void set_groups(Carrier carrier, std::span<const int> of_unnamed);
  // When each of them was asked for, or began.
  std::vector<std::int64_t> times_of_unnamed_ns(Carrier carrier) const;

  // `world_size`: 0 where nothing tells it. `beside_nccl`: see KinetoGroups.
  void make_groups(const KinetoJob& job, int world_size, bool beside_nccl, RowIds& ids);
  // After make_groups(). The number of a call within its group is -1 where the trace has none.
  void make_rows(RowIds& ids);
  // Once phases are known.
  void place_in(const KinetoPhases& phases);

  // The calls of which it is known when they were asked for. After make_rows().
  std::vector<AskedCall> calls() const;
  bool has_any() const { return !calls_.empty(); }
  // Which calls asked for Gloo's that DDP or a sharding program may have asked for. A clause; "":
  // it is known of all of them.
  std::string why_calls_are_unclear() const;

  // What the rank reduces and gathers as one, as rows: buckets of DDP, units of sharding programs.
  // Tags the collectives that are of them. A clause says why there are no buckets; "": there are.
  std::string add_buckets(std::span<const TrainingPass> passes, RowIds& ids, model::Batch& rows);
  void add_units(const FsdpUnits& found, const KinetoPhases& phases, RowIds& ids,
                 model::Batch& rows);

  void move_to(model::Batch& rows, GroupNumbers& numbers);

 private:
  struct Call {
    CarriedOut made;
    std::int64_t asked_ns = kNoCall;  // for it by the host
    // What the host asked for, known of Gloo's calls only, and among how many ranks; kOther, 0: not
    // known.
    model::CollectiveFunction asked = model::CollectiveFunction::kOther;
    std::int64_t asked_ranks = 0;
    int group = kNoGroup;  // of one that names none

    // When it was asked for, as far as that is known.
    std::int64_t order_ns() const { return asked_ns != kNoCall ? asked_ns : made.event.start_ns; }
    Carrier carrier() const {
      return made.event.category == KinetoCategory::kKernel ? Carrier::kGpu : Carrier::kHost;
    }
    bool is_unnamed(Carrier by) const { return made.event.group.empty() && carrier() == by; }
  };
  void find_launches(const EventRuns& runs, const NcclCalls& nccl_calls);
  void find_requests(const HostCalls& host_calls);
  void find_ranks_of_gathers();
  void tag(std::size_t call, model::TagKind kind, int index, model::StringId name = 0);
  std::int64_t ranks_of(const Call& call, int group) const;

  bool on_gpu_ = false;
  std::vector<Call> calls_;  // as rows_ has them
  KinetoGroups groups_;
  std::vector<model::Collective> rows_;  // with groups by their places
};

}  // namespace shardlens::trace::interop
