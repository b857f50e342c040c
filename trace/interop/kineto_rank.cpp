#include "trace/interop/kineto_rank.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "trace/base/intervals.h"
#include "trace/base/saturated.h"
#include "trace/interop/json/collective_names.h"
#include "trace/model/untold.h"

namespace shardlens::trace::interop {

namespace {

std::string thread_name(const KinetoEvent& event) { return "thread " + event.thread; }

std::string stream_name(const KinetoEvent& event) {
  const std::string device = event.device < 0 ? event.process : std::to_string(event.device);
  const std::string stream = event.stream < 0 ? event.thread : std::to_string(event.stream);
  return "GPU " + device + (stream.starts_with("stream") ? " " : " stream ") + stream;
}

}  // namespace

void BelievableTimes::choose() {
  std::int64_t most = 0, in_row = 0, first = 0;
  bool is_first = true;
  std::int64_t before = 0;
  for (const auto& [day, events] : events_) {
    if (is_first || day != before + 1) {
      in_row = 0;
      first = day;
    }
    is_first = false;
    before = day;
    in_row += events;
    if (in_row < most) continue;
    most = in_row;
    first_day_ = first;
    last_day_ = day;
  }
}

std::string_view BelievableTimes::objection(std::int64_t start_ns, std::int64_t end_ns) const {
  const std::int64_t day = start_ns / kDay;
  if (day < first_day_) return "timed days before all others";
  if (day > last_day_) return "timed days behind all others";
  if (end_ns / kDay > last_day_ + 1) {
    return "they end days behind all others";
  }
  return {};
}

void KinetoRank::add_bulk(const KinetoEvent& event, model::LaneKind lane_kind,
                          const std::string& lane, model::EventKind kind, std::int64_t value,
                          std::uint32_t flags) {
  model::Event row;
  row.start_ns = event.start_ns;
  row.duration_ns = event.duration_ns;
  row.name = ids_.intern(event.name);
  row.correlation = event.correlation;
  row.value = value;
  row.flags = flags;
  run_of(ids_.lane_of(lane_kind, lane), kind).push_back(row);
}

void KinetoRank::add(const KinetoEvent& event) {
  if (event.category == KinetoCategory::kFlow) return;
  if (std::abs(event.start_ns) >= base::kLatestTimeNs || event.duration_ns >= base::kLatestTimeNs) {
    return leave_out("their times are no dates");
  }
  if (event.duration_ns < 0) return leave_out("their durations are negative or no numbers");
  times_.add(event.start_ns);
  autograd_.add(event);
  fsdp1_.add(event);
  fsdp2_.add(event);
  host_calls_.add(event);
  if (NcclCalls::takes(event)) {
    nccl_calls_.add(event, ids_.lane_of(model::LaneKind::kOperators, thread_name(event)));
  }
  switch (event.category) {
    case KinetoCategory::kKernel:
      add_kernel(event);
      break;
    case KinetoCategory::kCopy:
      ++gpu_events_[event.device];
      add_bulk(event, model::LaneKind::kCopies, stream_name(event), model::EventKind::kCopy,
               event.bytes);
      break;
    case KinetoCategory::kLaunch:
      launches_kernels_ = launches_kernels_ || event.name.find("Launch") != std::string::npos;
      add_bulk(event, model::LaneKind::kOperators, thread_name(event), model::EventKind::kLaunch);
      break;
    case KinetoCategory::kOperator:
      add_bulk(event, model::LaneKind::kOperators, thread_name(event), model::EventKind::kOperator);
      break;
    case KinetoCategory::kPython:
      add_bulk(event, model::LaneKind::kOperators, thread_name(event) + ", Python",
               model::EventKind::kOperator);
      break;
    case KinetoCategory::kAnnotation:
      add_annotation(event);
      break;
    case KinetoCategory::kMemory:
      add_memory(event);
      break;
    case KinetoCategory::kFlow:
      break;
    case KinetoCategory::kOther:
      add_bulk(event, model::LaneKind::kOperators, event.category_text + " of " + event.thread,
               model::EventKind::kOperator);
      break;
  }
}

void KinetoRank::add_kernel(const KinetoEvent& event) {
  ++gpu_events_[event.device];
  const bool communicates = is_nccl_kernel(event.name);
  const auto kind = communicates ? model::LaneKind::kCommunication : model::LaneKind::kCompute;
  add_bulk(event, kind, stream_name(event), model::EventKind::kKernel, 0,
           communicates ? 0 : model::kEventCompute);
  if (communicates) carried_out_.push_back({ids_.lane_of(kind, stream_name(event)), event});
}

// Gloo's and MPI's collectives are annotations, on the threads that carry them out.
void KinetoRank::add_annotation(const KinetoEvent& event) {
  if (is_host_collective(event.name)) {
    const int lane = ids_.lane_of(model::LaneKind::kCommunication, thread_name(event));
    return carried_out_.push_back({lane, event});
  }
  const base::Interval time = event.time();
  if (event.name == kDdpForward) {
    autograd_.add_forward(time, /*is_whole=*/true);
    is_ddp_ = true;
  }
  annotations_.push_back(
      {event.name, event.thread, time.start_ns, time.end_ns, event.detail != kNoDetail});
}

void KinetoRank::add_memory(const KinetoEvent& event) {
  const bool on_gpu = event.device_type > 0;
  add_bulk(event, model::LaneKind::kOperators, thread_name(event), model::EventKind::kAllocation,
           event.bytes);
  if (!on_gpu || event.total_allocated < 0) return;
  model::MemorySample sample;
  sample.time_ns = event.start_ns;
  sample.untold = model::MemorySample::kUntoldPurposes;
  sample.bytes[static_cast<std::size_t>(model::MemoryCategory::kOther)] = event.total_allocated;
  if (event.total_reserved >= 0) {
    sample.reserved_bytes = std::max(event.total_reserved, event.total_allocated);
  }
  memory_[event.device].push_back(sample);
}

void KinetoRank::leave_out_unbelievable() {
  times_.choose();
  const auto leaves = [&](std::int64_t start_ns, std::int64_t end_ns) {
    const std::string_view objection = times_.objection(start_ns, end_ns);
    if (!objection.empty()) {
      leave_out(std::string(objection));
      return true;
    }
    recorded_.start_ns = std::min(recorded_.start_ns, start_ns);
    recorded_.end_ns = std::max(recorded_.end_ns, end_ns);
    return false;
  };
  for (auto& [key, events] : runs_) {
    std::erase_if(events, [&](const model::Event& e) { return leaves(e.start_ns, e.end_ns()); });
  }
  std::erase_if(runs_, [](const auto& run) { return run.second.empty(); });
  std::erase_if(annotations_, [&](const Annotation& a) { return leaves(a.start_ns, a.end_ns); });
  // Their kernels, and allocations, were counted above.
  std::erase_if(carried_out_, [&](const CarriedOut& made) {
    const auto& event = made.event;
    const bool is_kernel = event.category == KinetoCategory::kKernel;
    return is_kernel ? !times_.objection(event.start_ns, event.end_ns()).empty()
                     : leaves(event.start_ns, event.end_ns());
  });
  for (auto& [device, samples] : memory_) {
    std::erase_if(samples, [&](const model::MemorySample& sample) {
      return !times_.objection(sample.time_ns, sample.time_ns).empty();
    });
  }
  const auto is_believed = [&](const base::Interval& time) {
    return times_.objection(time.start_ns, time.end_ns).empty();
  };
  units_ = fsdp2_.finish(is_believed);
  const bool marks_begins = units_.has_units();
  if (!marks_begins && fsdp1_.has_any()) units_ = fsdp1_.finish(is_believed);
  for (const base::Interval& forward : units_.forwards()) {
    autograd_.add_forward(forward, /*is_whole=*/!marks_begins);
  }
  autograd_.finish(is_believed);
  host_calls_.finish(is_believed);
  nccl_calls_.finish(is_believed);
}

// By lane of operators.
std::map<int, base::Intervals> KinetoRank::communicating() const {
  std::map<int, base::Intervals> times;
  for (const auto& [carried_by, event] : carried_out_) {
    const auto lane = ids_.known_lane(model::LaneKind::kOperators, thread_name(event));
    if (lane) times[*lane].push_back(event.time());
  }
  for (auto& [lane, intervals] : times) intervals = base::normalize(std::move(intervals));
  return times;
}

// Of a GPU what came last is missing where the file ends early: until its last record all is there.
std::int64_t KinetoRank::detail_until_ns() const {
  if (!is_cut_off_ || !uses_gpu()) return INT64_MAX;
  std::int64_t until_ns = INT64_MIN;
  for (const auto& [key, events] : runs_) {
    if (key.second != model::EventKind::kKernel && key.second != model::EventKind::kCopy) continue;
    for (const model::Event& event : events) until_ns = std::max(until_ns, event.end_ns());
  }
  return until_ns;
}

std::vector<TrainingPass> KinetoRank::passes() const {
  std::vector<TrainingPass> passes = autograd_.passes();
  if (!units_.has_units()) return passes;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    base::Interval& backward = passes[i].backward;
    const bool is_last = i + 1 == passes.size();
    const std::int64_t next_ns = is_last ? INT64_MAX : passes[i + 1].forwards.front().start_ns;
    for (base::Interval& forward : passes[i].forwards) {
      const std::int64_t until_ns =
          std::min(units_.next_forward_ns(forward.start_ns), backward.start_ns);
      forward.end_ns = units_.forward_end_ns({forward.start_ns, until_ns});
    }
    const base::Interval& last = passes[i].forwards.back();
    backward.start_ns = units_.backward_begin_ns({last.end_ns, backward.start_ns});
    backward.end_ns =
        std::max(backward.end_ns, units_.backward_end_ns({backward.start_ns, next_ns}));
  }
  return passes;
}

std::string KinetoRank::make_parts(int world_size, std::span<const TrainingPass> passes,
                                   const FsdpUnits& units, const KinetoPhases& phases,
                                   KinetoCollectives& collectives, model::Batch& rows) {
  // Where that is unclear, what else is missed may be there.
  const auto untold = [&](std::string_view what, const std::string& why_none) {
    const std::string unclear = collectives.why_calls_are_unclear();
    return std::string(what) + (unclear.empty() ? why_none : unclear);
  };
  if (!units.units.empty() || !units.why_none.empty()) {
    collectives.add_units(units, phases, ids_, rows);
    return units.why_none.empty() ? "" : untold(model::kNoUnits, units.why_none);
  }
  if (world_size == 1) return "";
  if (!is_ddp_) {
    const bool exchanges = collectives.has_any() || nccl_calls_.has_any();
    if (!exchanges) return "";
    return std::string(model::kNoBucketPlan) + "no " + std::string(kDdpForward) +
           " is marked in the trace";
  }
  const std::string why = collectives.add_buckets(passes, ids_, rows);
  return why.empty() ? "" : untold(model::kNoBucketPlan, why);
}

namespace {

// Ranks and base times are known last.
void set_rank_and_base(model::Batch& rows, int rank, std::int64_t base_ns) {
  const auto shift = [&](auto& list, auto... times) {
    for (auto& row : list) {
      row.rank = rank;
      ((row.*times = base::saturated_add(row.*times, base_ns)), ...);
    }
  };
  shift(rows.strings);
  shift(rows.lanes);
  shift(rows.process_groups);
  shift(rows.steps, &model::Step::start_ns, &model::Step::end_ns);
  shift(rows.spans, &model::Span::start_ns, &model::Span::end_ns);
  shift(rows.collectives, &model::Collective::start_ns, &model::Collective::end_ns);
  for (model::Collective& row : rows.collectives) {
    const bool is_known = row.enqueued_ns != kNoCall;
    row.enqueued_ns = is_known ? base::saturated_add(row.enqueued_ns, base_ns) : 0;
  }
  shift(rows.memory, &model::MemorySample::time_ns);
  shift(rows.buckets);
  shift(rows.units);
  shift(rows.unit_parameters);
  shift(rows.unit_ready, &model::UnitReady::time_ns);
  shift(rows.log, &model::LogLine::time_ns);
  shift(rows.lost);
  for (model::EventRun& run : rows.events) {
    run.rank = rank;
    for (model::Event& event : run.events)
      event.start_ns = base::saturated_add(event.start_ns, base_ns);
  }
}

}  // namespace

bool KinetoRank::uses_nccl() const {
  return std::ranges::any_of(carried_out_, [](const CarriedOut& made) {
    return made.event.category == KinetoCategory::kKernel;
  });
}

void KinetoRank::collect(int world_size, bool beside_nccl, const KinetoJob& job) {
  leave_out_unbelievable();
  order_runs(runs_);
  if (!uses_gpu()) mark_compute(ids_.strings(), communicating(), runs_);
  collectives_.emplace(std::move(carried_out_), runs_, host_calls_, nccl_calls_, uses_gpu());
  collectives_->make_groups(job, world_size, beside_nccl, ids_);
  phases_.emplace(std::move(annotations_), recorded_, autograd_.times());
}

UnnamedCalls KinetoRank::unnamed_calls(Carrier carrier, int rank) const {
  UnnamedCalls calls = collectives_->unnamed(carrier);
  calls.rank = rank;
  return calls;
}

RankCalls KinetoRank::steps_of_unnamed(Carrier carrier) const {
  return calls_by_step(phases_->steps(), collectives_->times_of_unnamed_ns(carrier),
                       phases_->where_steps_are_from().empty());
}

// A job's processes see all devices of their machine, as a rule, and use one each. −1: none.
int KinetoRank::used_device() const {
  const auto used =
      std::ranges::max_element(gpu_events_, {}, [](const auto& device) { return device.second; });
  return used == gpu_events_.end() ? -1 : used->first;
}

std::string KinetoRank::device_name(const KinetoJob& job) const {
  if (job.device_names.empty()) return "";
  const auto found = job.device_names.find(used_device());
  return found == job.device_names.end() ? job.device_names.begin()->second : found->second;
}

// Of the same, or of the one that tells most where nothing tells it of that.
std::vector<model::MemorySample> KinetoRank::memory_of_device() {
  auto found = memory_.find(used_device());
  if (found == memory_.end()) {
    found = std::ranges::max_element(memory_, {},
                                     [](const auto& device) { return device.second.size(); });
  }
  return found == memory_.end() ? std::vector<model::MemorySample>() : std::move(found->second);
}

model::Batch KinetoRank::finish(int rank, int world_size, const KinetoJob& job,
                                const std::string& source, GroupNumbers& numbers) {
  if (!collectives_) collect(world_size, uses_nccl(), job);
  KinetoCollectives& collectives = *collectives_;
  KinetoPhases& phases = *phases_;
  const auto of_passes = passes();
  std::vector<std::int64_t> ends_ns;
  for (const TrainingPass& pass : of_passes) {
    ends_ns.push_back(collectives.awaited_ns(pass.backward));
  }
  phases.add_passes(of_passes, ends_ns);
  collectives.make_rows(ids_);
  const FsdpUnits units = find_fsdp_units(units_, of_passes, collectives.calls());
  if (!units.units.empty()) phases.name_units(units_);
  phases.finish(ids_);
  collectives.place_in(phases);
  model::Batch rows;
  const std::string untold = make_parts(world_size, of_passes, units, phases, collectives, rows);
  if (!untold.empty()) {
    rows.log.push_back({0, recorded_.start_ns, model::LogLine::Level::kInfo, untold});
  }
  phases.move_to(rows);
  collectives.move_to(rows, numbers);
  // NCCL launches nothing for a rank that is alone.
  const bool lacks_kernels = world_size != 1 && nccl_calls_.has_any() && rows.collectives.empty();
  const std::int64_t detail_until = detail_until_ns();
  for (model::Step& step : rows.steps) {
    if (lacks_kernels || step.end_ns > detail_until) step.full_detail = false;
  }
  rows.memory = memory_of_device();
  for (model::MemorySample& sample : rows.memory) sample.step = phases.step_at(sample.time_ns);
  for (auto& [key, events] : runs_) {
    rows.events.push_back({0, key.first, key.second, std::move(events)});
  }
  for (const auto& [reason, count] : left_out_) rows.lost.push_back({0, reason, count});
  model::RankInfo info;
  info.rank = rank;
  info.local_rank = static_cast<int>(model::kNotKnown);
  info.device = uses_gpu() ? "cuda" : "cpu";
  info.device_name = device_name(job);
  info.sources = source + std::string(lacks_kernels ? model::kNoKernels : "") +
                 std::string(is_cut_off_ ? model::kCutOff : "") +
                 std::string(phases.where_steps_are_from());
  info.versions = job.versions;
  rows.rank_info = info;
  ids_.move_to(rows);
  set_rank_and_base(rows, rank, job.base_ns);
  *this = KinetoRank();
  return rows;
}

}  // namespace shardlens::trace::interop
