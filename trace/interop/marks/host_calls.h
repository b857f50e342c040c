// What the host tells of collectives: when a program asked for those that Gloo's threads carry out,
// and what surrounds the launches of NCCL's. One owner.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "trace/base/intervals.h"
#include "trace/interop/json/kineto_event.h"
#include "trace/model/events.h"

namespace shardlens::trace::interop {

inline constexpr std::string_view kSparseAllReduce = "gloo:sparse_all_reduce";

// Gloo's.
class HostCalls {
 public:
  void add(const KinetoEvent& event);          // takes what it looks for
  void note_cut_off() { is_cut_off_ = true; }  // the trace's file ended early
  // Afterwards, once: leaves out those whose times cannot be believed.
  void finish(const std::function<bool(const base::Interval&)>& is_believed);

  struct Request {
    std::int64_t time_ns = 0;
    // What was asked for, which is not always what Gloo does for it.
    model::CollectiveFunction function = model::CollectiveFunction::kOther;
    std::int64_t ranks = 0;  // that gather or share what is reduced; 0: not told
  };
  // By collective, of `started` in order of their start. None: which call asked for it is not sure,
  // since of those with its name and size the trace holds more or fewer calls than collectives, as
  // where a file was cut off. Collectives that two threads take up at nearly the same time are told
  // apart by their sizes.
  std::vector<std::optional<Request>> requests(std::span<const KinetoEvent* const> started) const;

 private:
  struct Asked {
    Request request;
    std::string_view collective;  // "gloo:all_reduce"
    std::int64_t elements = -1;
  };
  std::vector<Asked> asked_;
  bool is_cut_off_ = false;
  std::int64_t host_end_ns_ = INT64_MIN;  // of the last operator
};

// NCCL's: the operator that asks for a collective (c10d::…), what it records of it
// (record_param_comms) and its mark (nccl:…) surround the launch of its kernel, whose name does not
// tell: one of NCCL 2.18 or older that is called SendRecv, and one called Generic, runs any.
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
