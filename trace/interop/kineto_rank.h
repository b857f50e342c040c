// The events of one rank as rows of a trace: lanes, steps, phases, collectives and bulk events. One
// thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/interop/believable_times.h"
#include "trace/interop/event_runs.h"
#include "trace/interop/json/kineto_event.h"
#include "trace/interop/marks/autograd_passes.h"
#include "trace/interop/marks/fsdp_marks.h"
#include "trace/interop/marks/fsdp_units.h"
#include "trace/interop/marks/host_calls.h"
#include "trace/model/batch.h"

namespace shardlens::trace::interop {

// What a trace says of its job outside its events.
struct KinetoJob {
  int rank = -1;  // -1: it does not say
  int world_size = -1;
  std::int64_t base_ns = 0;  // of all times
  std::string backend;       // of the collectives: "nccl", "gloo"; "": it does not say
  std::string device_name;
  std::string versions;
  struct Group {
    std::string name, description;
    std::vector<int> ranks;
  };
  std::vector<Group> groups;
};

// The time of a call that a trace does not hold, until the rows have their base.
inline constexpr std::int64_t kNoCall = INT64_MIN;

class KinetoRank {
 public:
  void add(const KinetoEvent& event);
  void leave_out(const std::string& reason) { ++left_out_[reason]; }

  // All rows, each list in order of time, less those whose times cannot be believed: `lost` says
  // how many and why. Afterwards this object is empty.
  model::Batch finish(int rank, int world_size, const KinetoJob& job, const std::string& source);

  bool uses_gpu() const { return gpu_events_ > 0; }
  // The job has so many at least, as ranks took part in its collectives; 0: none is named.
  int named_ranks() const;
  // Of DDP, with shapes: it should tell buckets.
  bool has_ddp_sizes() const { return is_ddp_ && autograd_.has_sizes(); }

 private:
  struct Annotation {
    std::string name, thread;
    std::int64_t start_ns = 0, end_ns = 0;
    base::Phase phase = base::Phase::kOther;
  };
  struct Call {  // of a collective: NCCL's kernel, or the time on Gloo's thread
    int lane = 0;
    KinetoEvent event;
    std::int64_t asked_ns = kNoCall;  // for it by the host
    // Of Gloo's, what was asked for; kOther: not known.
    model::CollectiveFunction asked = model::CollectiveFunction::kOther;
  };

  model::StringId intern(std::string_view text);
  int lane_of(model::LaneKind kind, const std::string& name);
  std::vector<model::Event>& run_of(int lane, model::EventKind kind) { return runs_[{lane, kind}]; }
  void add_bulk(const KinetoEvent& event, model::LaneKind lane_kind, const std::string& lane,
                model::EventKind kind, std::int64_t value, std::uint32_t flags = 0);
  void add_annotation(const KinetoEvent& event);
  void add_memory(const KinetoEvent& event);
  void leave_out_unbelievable();
  std::map<int, base::Intervals> communicating() const;
  void find_passes();
  void find_calls();
  void mark_phases();
  std::int64_t awaited_ns(const base::Interval& backward) const;
  void make_steps();
  void make_phases();
  void make_groups(const KinetoJob& job, int world_size);
  void make_collectives();
  std::vector<DdpBackward> backwards();
  void make_buckets(int world_size);
  void make_units();
  int group_id(const KinetoEvent& event);
  std::int64_t group_ranks(int group) const;
  std::int64_t step_at(std::int64_t time_ns) const;
  base::Phase phase_at(std::int64_t time_ns) const;

  model::Batch rows_;
  StringIds strings_;
  std::map<std::pair<model::LaneKind, std::string>, int> lanes_;
  EventRuns runs_;
  std::vector<Annotation> annotations_;
  std::vector<model::Span> phases_;  // those of depth 0, by start
  std::vector<Call> collectives_;    // once their calls are known, as rows_ has them
  AutogradPasses autograd_;
  bool is_ddp_ = false;
  FsdpMarks fsdp_;
  HostCalls host_calls_;
  std::vector<TrainingPass> passes_;
  std::map<std::string, int> groups_;
  std::map<std::string, std::int64_t> left_out_;
  BelievableTimes times_;
  std::int64_t gpu_events_ = 0;
  std::int64_t first_ns_ = INT64_MAX, last_ns_ = INT64_MIN;
};

}  // namespace shardlens::trace::interop
