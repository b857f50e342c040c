// The same collective on all ranks of its group: how long each waited for the last one, and what
// follows of many. CollectiveCalls are built once from all ranks' calls, then any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "trace/analysis/figures/distribution.h"
#include "trace/analysis/figures/figures.h"
#include "trace/analysis/steps/host_clocks.h"
#include "trace/base/intervals.h"
#include "trace/model/events.h"
#include "trace/model/untold.h"

namespace shardlens::trace::analysis {

// One rank's part in a call. Groups of different ranks may have the same number, hence the first
// member.
struct CollectivePart {
  int process_group = 0;
  int first_member = 0;
  std::int64_t sequence = -1;
  model::CollectiveFunction function = model::CollectiveFunction::kOther;
  int rank = 0;
  std::uint32_t index = 0;  // among its rank's collectives, which may move it while a run is live
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t row = 0;  // its row id, which stays
  int members = 0;       // ranks of its group; 0: it was not announced

  // Whether its times are known; a single rank's sends nothing, which takes no time.
  bool is_timed() const { return members == 1 || model::is_timed(*this); }
};

// How long a rank that took part in a call from `own.start_ns` to `own.end_ns` waited for the last
// one, where clocks are taken at their word: both times are known, but a transfer only of one that
// was still there.
CallWait wait_for(std::int64_t latest_start_ns, base::Interval own,
                  model::CollectiveFunction function);

// Waits and transfers of those calls in which data moved while all ranks were there, and how fast:
// the median over them, exact as MedianAccumulator's. One owner.
class TransferSums {
 public:
  // `bytes`: nccl-tests' size; kNotKnown of one: then no speed is. False: it is none of those.
  bool add(const CallWait& wait, std::int64_t bytes, double bus_factor);
  std::int64_t matched() const { return matched_; }
  std::int64_t wait_ns() const { return wait_ns_; }
  std::int64_t transfer_ns() const { return transfer_ns_; }
  double algbw_bytes_per_s() const;  // 0: nothing moved, or not known
  double busbw_bytes_per_s() const;  // through a rank's link, the same

 private:
  std::int64_t matched_ = 0, wait_ns_ = 0, transfer_ns_ = 0;
  bool are_bytes_known_ = true;
  MedianAccumulator ns_per_gib_, ns_per_bus_gib_;
};

class CollectiveCalls {
 public:
  CollectiveCalls() = default;
  // Parts without a sequence number are left out: nothing says what they belong to; so are sends
  // and receives, which wait for one other rank, and those whose times are not known.
  explicit CollectiveCalls(std::vector<CollectivePart> parts);

  // The parts of all ranks in the call that `like` is a part of, by rank, one of each; empty if the
  // call is not known.
  std::span<const CollectivePart> same_call(const CollectivePart& like) const;
  // visit(parts) for every call, by rank; those of one group in order of their sequence numbers.
  template <typename Visit>
  void for_each_call(Visit&& visit) const {
    for (const Call& call : calls_) visit(parts_of(call));
  }
  // What the calls tell of the clocks of the run's ranks.
  HostClocks clocks(std::span<const RankHost> ranks) const;
  // Waits that are not longer than the clocks of a call's hosts may be apart are not known.
  void doubt_waits(const HostClocks& clocks);
  // How far the clocks of the call's hosts may be apart, as doubt_waits() took it:
  // kUnknownClockError where nothing tells; 0: its ranks have one clock.
  std::int64_t clock_error_ns(const CollectivePart& like) const;
  // Here and below: of a group that was not announced all `rank_count` ranks of the job take part.
  bool has_all_ranks(const CollectivePart& like, std::size_t rank_count) const;
  // The one rule for what is told of a rank's part in a call: wait_for(), but not known as ranks
  // are missing, or as clocks may have made it up that it came before the last rank or, of the last
  // one itself, that the others did; its transfer also where calls contradict that its ranks have
  // one clock.
  CallWait wait_of(const CollectivePart& like, std::size_t rank_count) const;

 private:
  struct Call {
    std::size_t first = 0, size = 0;  // in parts_
    CallClocks clocks{};
  };
  const Call* call_with(const CollectivePart& like) const;
  // Null where not all ranks are there.
  const Call* whole_call_with(const CollectivePart& like, std::size_t rank_count) const;
  // The own start; of the last rank the latest one of the others.
  std::int64_t before_latest_ns(const Call& call, const CollectivePart& like,
                                const CollectivePart& latest) const;
  std::span<const CollectivePart> parts_of(const Call& call) const {
    return std::span(parts_).subspan(call.first, call.size);
  }

  std::vector<CollectivePart> parts_;  // in order of the call, then of the rank
  std::vector<Call> calls_;
  std::map<int, std::vector<std::uint32_t>> call_of_;  // by rank and index: place in calls_ + 1
};

}  // namespace shardlens::trace::analysis
