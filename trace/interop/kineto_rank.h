// What a trace of Kineto holds of one rank, event by event, and the rows of a run that it becomes.
// One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/interop/json/kineto_event.h"
#include "trace/interop/kineto_collectives.h"
#include "trace/interop/kineto_groups.h"
#include "trace/interop/kineto_job.h"
#include "trace/interop/kineto_phases.h"
#include "trace/interop/marks/autograd_passes.h"
#include "trace/interop/marks/call_groups.h"
#include "trace/interop/marks/call_places.h"
#include "trace/interop/marks/fsdp1_marks.h"
#include "trace/interop/marks/fsdp2_marks.h"
#include "trace/interop/marks/fsdp_units.h"
#include "trace/interop/marks/host_calls.h"
#include "trace/interop/marks/unit_marks.h"
#include "trace/interop/rank_lanes.h"
#include "trace/model/batch.h"

namespace shardlens::trace::interop {

// Which of a trace's times can be believed. CUPTI gives a zero now and then, and a damaged file
// anything: one such event would make a run of decades.
class BelievableTimes {
 public:
  // No trace is longer, and what lies further from all others is no part of it.
  static constexpr std::int64_t kDay = 86'400'000'000'000;

  void add(std::int64_t start_ns) { ++events_[start_ns / kDay]; }

  // Chooses, of all that were added, the days in a row that hold the most events; of equal ones
  // the latest, since a time that is missing is 0.
  void choose();
  // After choose(): why an event cannot be believed; "": it can.
  std::string_view objection(std::int64_t start_ns, std::int64_t end_ns) const;

 private:
  std::map<std::int64_t, std::int64_t> events_;  // by day
  std::int64_t first_day_ = 0, last_day_ = 0;
};

class KinetoRank {
 public:
  void add(const KinetoEvent& event);
  void note_cut_off() {  // its file ended early
    is_cut_off_ = true;
    host_calls_.note_cut_off();
  }
  void leave_out(const std::string& reason) { ++left_out_[reason]; }

  // Once all is added, before what follows. `world_size`: 0 where nothing tells it. `beside_nccl`:
  // NCCL communicates in the job.
  void collect(int world_size, bool beside_nccl, const KinetoJob& job);
  std::optional<std::int64_t> repeated_step() const { return phases_->repeated_step(); }
  // Collectives that name no group: for groups_of_calls(), and by their steps.
  UnnamedCalls unnamed_calls(Carrier carrier, int rank) const;
  RankCalls steps_of_unnamed(Carrier carrier) const;
  void set_groups(Carrier carrier, std::span<const int> of_unnamed) {
    collectives_->set_groups(carrier, of_unnamed);
  }

  // All rows, each list in order of time, less those whose times cannot be believed: `lost` says
  // how many and why. Collectives are numbered only where the trace does. Afterwards this object is
  // empty.
  model::Batch finish(int rank, int world_size, const KinetoJob& job, const std::string& source,
                      GroupNumbers& numbers);

  // Kineto writes what a GPU did behind what the host launched.
  bool uses_gpu() const { return !gpu_events_.empty() || (is_cut_off_ && launches_kernels_); }
  // The job has so many at least, as ranks took part in its collectives; 0: none is named.
  int named_ranks() const { return interop::named_ranks(carried_out_); }
  // What waits for other ranks, before collect().
  bool communicates() const { return !carried_out_.empty(); }
  bool uses_nccl() const;  // likewise
  // It should tell buckets or units: it is of DDP, or of modules that are sharded.
  bool has_parts() const { return is_ddp_ || fsdp1_.has_any() || fsdp2_.has_any(); }

 private:
  std::vector<model::Event>& run_of(int lane, model::EventKind kind) { return runs_[{lane, kind}]; }
  void add_bulk(const KinetoEvent& event, model::LaneKind lane_kind, const std::string& lane,
                model::EventKind kind, std::int64_t value = 0, std::uint32_t flags = 0);
  void add_kernel(const KinetoEvent& event);
  void add_annotation(const KinetoEvent& event);
  void add_memory(const KinetoEvent& event);
  void leave_out_unbelievable();
  std::map<int, base::Intervals> communicating() const;
  std::int64_t detail_until_ns() const;
  int used_device() const;
  std::string device_name(const KinetoJob& job) const;
  std::vector<model::MemorySample> memory_of_device();
  std::vector<TrainingPass> passes() const;
  // A line of the log says why there are none; "": there are, or nothing should.
  std::string make_parts(int world_size, std::span<const TrainingPass> passes,
                         const FsdpUnits& units, const KinetoPhases& phases,
                         KinetoCollectives& collectives, model::Batch& rows);

  RowIds ids_;
  EventRuns runs_;
  std::vector<Annotation> annotations_;
  std::vector<CarriedOut> carried_out_;
  std::map<int, std::vector<model::MemorySample>> memory_;  // by device: each has its own totals
  AutogradPasses autograd_;
  bool is_cut_off_ = false;
  bool launches_kernels_ = false;
  bool is_ddp_ = false;
  Fsdp1Marks fsdp1_;
  Fsdp2Marks fsdp2_;
  UnitMarks units_;  // of either, once all is collected
  HostCalls host_calls_;
  NcclCalls nccl_calls_;
  std::map<std::string, std::int64_t> left_out_;
  BelievableTimes times_;
  std::map<int, std::int64_t> gpu_events_;         // by device
  base::Interval recorded_{INT64_MAX, INT64_MIN};  // what is believed
  // Of what was collected.
  std::optional<KinetoCollectives> collectives_;
  std::optional<KinetoPhases> phases_;
};

}  // namespace shardlens::trace::interop
