// What the host tells of the collectives whose kernels NCCL launches: the operator that asks for
// one (c10d::…), what it records of it (record_param_comms) and its mark (nccl:…) surround the
// launch. A kernel's name does not tell: one of NCCL 2.18 or older that is called SendRecv, and one
// called Generic, runs any collective. One owner.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "trace/base/intervals.h"
#include "trace/interop/json/kineto_event.h"

namespace shardlens::trace::interop {

class NcclCalls {
 public:
  static bool takes(const KinetoEvent& event);
  // `lane`: of the thread's operators.
  void add(const KinetoEvent& event, int lane) { by_lane_[lane].push_back(event); }
  bool has_any() const { return !by_lane_.empty(); }
  // Afterwards, once: leaves out those whose times cannot be believed.
  void finish(const std::function<bool(const base::Interval&)>& is_believed);

  struct Launch {
    int lane = 0;
    std::int64_t time_ns = 0;
    KinetoEvent* kernel = nullptr;
  };
  // Writes into kernels that tell of no collective themselves what surrounds their launches. Sizes
  // only of calls that launched one kernel: how much each of several moves is not known.
  void tell(std::span<const Launch> launches) const;

 private:
  std::map<int, std::vector<KinetoEvent>> by_lane_;
};

}  // namespace shardlens::trace::interop
