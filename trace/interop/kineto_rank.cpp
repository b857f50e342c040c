#include "trace/interop/kineto_rank.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "trace/base/intervals.h"
#include "trace/interop/json/nccl_names.h"
#include "trace/job/run_limits.h"

namespace shardlens::trace::interop {

namespace {

constexpr std::string_view kStepPrefix = "ProfilerStep#";
constexpr std::string_view kFurtherNames = "(one of further names)";  // beyond what a run can hold

std::string thread_name(const KinetoEvent& event) { return "thread " + event.thread; }

std::string stream_name(const KinetoEvent& event) {
  const std::string device = event.device < 0 ? event.process : std::to_string(event.device);
  const std::string stream = event.stream < 0 ? event.thread : std::to_string(event.stream);
  return "GPU " + device + (stream.starts_with("stream") ? " " : " stream ") + stream;
}

// Gloo's collectives have but their inputs.
TorchType data_type_of(const KinetoEvent& event) {
  return event.data_type.empty() ? torch_type_of_input(event.input_type)
                                 : torch_type(event.data_type);
}

std::int64_t in_elements_of(const KinetoEvent& event, model::CollectiveFunction function) {
  using Function = model::CollectiveFunction;
  if (event.in_elements >= 0) return event.in_elements;
  const bool is_of_input = function == Function::kAllReduce || function == Function::kBroadcast ||
                           function == Function::kReduce || function == Function::kReduceScatter;
  return is_of_input ? event.input_elements : -1;
}

// Gloo gathers as much from each rank.
std::int64_t out_elements_of(const KinetoEvent& event, std::int64_t ranks) {
  if (event.out_elements >= 0 || event.input_elements < 0) return event.out_elements;
  std::int64_t elements = 0;
  return __builtin_mul_overflow(event.input_elements, ranks, &elements) ? -1 : elements;
}

// What users and PyTorch call the phases of a step.
base::Phase phase_named(std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (name.starts_with("nccl:") || name.starts_with("FSDP::")) return base::Phase::kOther;
  if (name.starts_with("Optimizer.step") || has("## optimizer")) return base::Phase::kOptimizer;
  if (has("backward")) return base::Phase::kBackward;
  if (has("forward") && !has("DistributedDataParallel")) return base::Phase::kForward;
  if (name.starts_with("enumerate(DataLoader)")) return base::Phase::kData;
  return base::Phase::kOther;
}

}  // namespace

model::StringId KinetoRank::intern(std::string_view text) {
  if (text.empty()) return 0;
  if (strings_.size() + 2 >= model::kMostStringId && !strings_.contains(std::string(text))) {
    text = kFurtherNames;
  }
  const auto [found, is_new] =
      strings_.try_emplace(std::string(text), static_cast<model::StringId>(strings_.size() + 1));
  if (is_new) rows_.strings.push_back({0, found->second, found->first});
  return found->second;
}

int KinetoRank::lane_of(model::LaneKind kind, const std::string& name) {
  const auto [found, is_new] = lanes_.try_emplace({kind, name}, static_cast<int>(lanes_.size()));
  if (is_new) rows_.lanes.push_back({0, found->second, kind, intern(name)});
  return found->second;
}

void KinetoRank::add_bulk(const KinetoEvent& event, model::LaneKind lane_kind,
                          const std::string& lane, model::EventKind kind, std::int64_t value,
                          std::uint32_t flags) {
  model::Event row;
  row.start_ns = event.start_ns;
  row.duration_ns = event.duration_ns;
  row.name = intern(event.name);
  row.correlation = event.correlation;
  row.value = value;
  row.flags = flags;
  run_of(lane_of(lane_kind, lane), kind).push_back(row);
}

void KinetoRank::add(const KinetoEvent& event) {
  if (event.category == KinetoCategory::kFlow) return;
  if (std::abs(event.start_ns) >= base::kLatestTimeNs || event.duration_ns >= base::kLatestTimeNs) {
    return leave_out("their times are no dates");
  }
  times_.add(event.start_ns);
  autograd_.add(event);
  fsdp_.add(event);
  host_calls_.add(event);
  switch (event.category) {
    case KinetoCategory::kKernel: {
      ++gpu_events_;
      const bool communicates = is_nccl_kernel(event.name);
      const auto kind = communicates ? model::LaneKind::kCommunication : model::LaneKind::kCompute;
      add_bulk(event, kind, stream_name(event), model::EventKind::kKernel, 0,
               communicates ? 0 : model::kEventCompute);
      if (communicates) collectives_.push_back({lane_of(kind, stream_name(event)), event});
      break;
    }
    case KinetoCategory::kCopy:
      ++gpu_events_;
      add_bulk(event, model::LaneKind::kCopies, stream_name(event), model::EventKind::kCopy,
               event.bytes);
      break;
    case KinetoCategory::kLaunch:
      add_bulk(event, model::LaneKind::kOperators, thread_name(event), model::EventKind::kLaunch,
               0);
      break;
    case KinetoCategory::kOperator:
      add_bulk(event, model::LaneKind::kOperators, thread_name(event), model::EventKind::kOperator,
               0);
      break;
    case KinetoCategory::kPython:
      add_bulk(event, model::LaneKind::kOperators, thread_name(event) + ", Python",
               model::EventKind::kOperator, 0);
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
               model::EventKind::kOperator, 0);
      break;
  }
}

// Gloo's and MPI's collectives are annotations, on the threads that carry them out.
void KinetoRank::add_annotation(const KinetoEvent& event) {
  if (is_host_collective(event.name)) {
    const int lane = lane_of(model::LaneKind::kCommunication, thread_name(event));
    return collectives_.push_back({lane, event});
  }
  const base::Interval time{event.start_ns, event.start_ns + event.duration_ns};
  if (event.name == kDdpForward || event.name == kFsdpForward) autograd_.add_forward(time);
  is_ddp_ |= event.name == kDdpForward;
  annotations_.push_back(
      {event.name, event.thread, time.start_ns, time.end_ns, phase_named(event.name)});
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
  rows_.memory.push_back(sample);
}

// Of NCCL's kernels the launch, of Gloo's collectives the operator: in that order they are carried
// out.
void KinetoRank::find_calls() {
  std::unordered_map<std::uint64_t, std::int64_t> launched;
  for (const Call& call : collectives_) launched.emplace(call.event.correlation, kNoCall);
  for (const auto& [key, events] : runs_) {
    if (key.second != model::EventKind::kLaunch) continue;
    for (const model::Event& event : events) {
      const auto found = launched.find(event.correlation);
      if (found != launched.end()) found->second = event.start_ns;
    }
  }
  std::ranges::stable_sort(collectives_, {}, [](const Call& c) { return c.event.start_ns; });
  for (Call& call : collectives_) {
    if (call.event.correlation != 0) call.asked_ns = launched[call.event.correlation];
  }
  if (uses_gpu()) return;
  std::vector<const KinetoEvent*> started;
  for (const Call& call : collectives_) started.push_back(&call.event);
  const auto requests = host_calls_.requests(started);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    collectives_[i].asked_ns = requests[i].time_ns;
    collectives_[i].asked = requests[i].function;
  }
  if (!requests.empty()) std::ranges::stable_sort(collectives_, {}, &Call::asked_ns);
}

// By lane of operators.
std::map<int, base::Intervals> KinetoRank::communicating() const {
  std::map<int, base::Intervals> times;
  for (const Call& call : collectives_) {
    const auto lane = lanes_.find({model::LaneKind::kOperators, thread_name(call.event)});
    if (lane == lanes_.end()) continue;
    times[lane->second].push_back(
        {call.event.start_ns, call.event.start_ns + call.event.duration_ns});
  }
  for (auto& [lane, intervals] : times) intervals = base::normalize(std::move(intervals));
  return times;
}

void KinetoRank::find_passes() {
  passes_ = autograd_.passes();
  if (!fsdp_.has_units()) return;
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    base::Interval &forward = passes_[i].forward, &backward = passes_[i].backward;
    const bool is_last = i + 1 == passes_.size();
    const std::int64_t next_ns = is_last ? INT64_MAX : passes_[i + 1].forward.start_ns;
    forward.end_ns = fsdp_.forward_end_ns({forward.start_ns, backward.start_ns});
    backward.start_ns = fsdp_.backward_begin_ns({forward.end_ns, backward.start_ns});
    backward.end_ns =
        std::max(backward.end_ns, fsdp_.backward_end_ns({backward.start_ns, next_ns}));
  }
}

// When the last reduction ended that DDP asked for in this pass, and waited for on the host.
std::int64_t KinetoRank::awaited_ns(const base::Interval& backward) const {
  std::int64_t end_ns = backward.end_ns;
  if (uses_gpu()) return end_ns;
  const auto first = std::ranges::lower_bound(collectives_, backward.start_ns, {}, &Call::asked_ns);
  for (auto call = first; call != collectives_.end() && call->asked_ns < backward.end_ns; ++call) {
    end_ns = std::max(end_ns, call->event.start_ns + call->event.duration_ns);
  }
  return end_ns;
}

// Where the program marks none itself.
void KinetoRank::mark_phases() {
  std::vector<base::Interval> marked;
  std::vector<Annotation> forwards;
  for (Annotation& annotation : annotations_) {
    if (annotation.phase == base::Phase::kBackward) {
      marked.push_back({annotation.start_ns, annotation.end_ns});
    }
    const bool is_ddp = annotation.name == kDdpForward;
    if (!is_ddp && annotation.name != kFsdpForward) continue;
    const auto pass =
        std::ranges::lower_bound(passes_, annotation.start_ns, {},
                                 [](const TrainingPass& each) { return each.forward.start_ns; });
    if (pass == passes_.end() || pass->forward.start_ns != annotation.start_ns) continue;
    if (is_ddp) {
      annotation.phase = base::Phase::kForward;
    } else {
      forwards.push_back({"forward", annotation.thread, pass->forward.start_ns,
                          pass->forward.end_ns, base::Phase::kForward});
    }
  }
  annotations_.insert(annotations_.end(), forwards.begin(), forwards.end());
  const base::Intervals by_program = base::normalize(std::move(marked));
  for (const TrainingPass& pass : passes_) {
    if (base::length_within(by_program, pass.backward) > 0) continue;
    annotations_.push_back({"backward", pass.backward_thread, pass.backward.start_ns,
                            awaited_ns(pass.backward), base::Phase::kBackward});
  }
}

void KinetoRank::make_steps() {
  for (const Annotation& annotation : annotations_) {
    if (!annotation.name.starts_with(kStepPrefix)) continue;
    model::Step step;
    const char* const end = annotation.name.data() + annotation.name.size();
    std::from_chars(annotation.name.data() + kStepPrefix.size(), end, step.index);
    step.start_ns = annotation.start_ns;
    step.end_ns = annotation.end_ns;
    rows_.steps.push_back(step);
  }
  if (rows_.steps.empty() && first_ns_ < last_ns_) {
    model::Step whole;
    whole.start_ns = first_ns_;
    whole.end_ns = last_ns_;
    rows_.steps.push_back(whole);
  }
  std::ranges::sort(rows_.steps, {}, &model::Step::start_ns);
  for (std::size_t i = 0; i < rows_.steps.size(); ++i) {
    model::Step& step = rows_.steps[i];
    step.loss = step.gradient_norm = std::numeric_limits<double>::quiet_NaN();
    step.full_detail = true;
    // The GPU works on after the host has left the step: until the next one begins.
    if (i + 1 < rows_.steps.size()) step.end_ns = rows_.steps[i + 1].start_ns;
  }
}

void KinetoRank::make_phases() {
  mark_phases();
  std::ranges::sort(annotations_, [](const Annotation& a, const Annotation& b) {
    return std::pair(a.start_ns, -a.end_ns) < std::pair(b.start_ns, -b.end_ns);
  });
  std::int64_t phase_end = INT64_MIN;
  std::map<std::string, std::vector<std::int64_t>> open;  // by thread
  for (const Annotation& annotation : annotations_) {
    if (annotation.name.starts_with(kStepPrefix)) continue;
    model::Span span;
    span.lane = lane_of(model::LaneKind::kPhases, "annotations of thread " + annotation.thread);
    span.start_ns = annotation.start_ns;
    span.end_ns = annotation.end_ns;
    span.step = step_at(annotation.start_ns);
    span.name = intern(annotation.name);
    auto& ends = open[annotation.thread];
    while (!ends.empty() && ends.back() <= annotation.start_ns) ends.pop_back();
    span.depth = static_cast<int>(ends.size()) + 1;
    if (annotation.phase != base::Phase::kOther && annotation.start_ns >= phase_end) {
      span.phase = annotation.phase;
      span.depth = 0;
      phase_end = annotation.end_ns;
      phases_.push_back(span);
    }
    ends.push_back(annotation.end_ns);
    rows_.spans.push_back(span);
  }
}

std::int64_t KinetoRank::step_at(std::int64_t time_ns) const {
  const auto next = std::ranges::upper_bound(rows_.steps, time_ns, {}, &model::Step::start_ns);
  if (next == rows_.steps.begin()) return -1;
  const model::Step& step = *std::prev(next);
  return time_ns < step.end_ns ? step.index : -1;
}

base::Phase KinetoRank::phase_at(std::int64_t time_ns) const {
  const auto next = std::ranges::upper_bound(phases_, time_ns, {}, &model::Span::start_ns);
  if (next == phases_.begin()) return base::Phase::kOther;
  const model::Span& span = *std::prev(next);
  return time_ns < span.end_ns ? span.phase : base::Phase::kOther;
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

model::Batch KinetoRank::finish(int rank, int world_size, const KinetoJob& job,
                                const std::string& source) {
  leave_out_unbelievable();
  order_runs(runs_);
  if (!uses_gpu()) mark_compute(strings_, communicating(), runs_);
  find_calls();
  make_steps();
  make_phases();
  make_groups(job, world_size);
  make_collectives();
  make_buckets(world_size);
  make_units();
  for (model::MemorySample& sample : rows_.memory) sample.step = step_at(sample.time_ns);
  for (auto& [key, events] : runs_) {
    rows_.events.push_back({0, key.first, key.second, std::move(events)});
  }
  for (const auto& [reason, count] : left_out_) rows_.lost.push_back({0, reason, count});
  model::RankInfo info;
  info.rank = rank;
  info.local_rank = static_cast<int>(model::kNotKnown);
  info.device = uses_gpu() ? "cuda" : "cpu";
  info.device_name = job.device_name;
  info.sources = source;
  info.versions = job.versions;
  rows_.rank_info = info;
  set_rank_and_base(rows_, rank, job.base_ns);
  model::Batch rows = std::move(rows_);
  *this = KinetoRank();
  return rows;
}

void KinetoRank::make_groups(const KinetoJob& job, int world_size) {
  if (job.groups.empty() && collectives_.empty()) return;
  const bool on_host = !collectives_.empty() && gpu_events_ == 0;
  const model::StringId backend = intern(!job.backend.empty() ? job.backend
                                         : on_host            ? "gloo"
                                                              : "nccl");
  for (const KinetoJob::Group& group : job.groups) {
    const int id = static_cast<int>(groups_.size());
    if (!groups_.try_emplace(group.name, id).second) continue;
    const bool is_named = !group.description.empty() && group.description != "undefined";
    rows_.process_groups.push_back(
        {0, id, intern(is_named ? group.description : group.name), backend, group.ranks});
  }
  if (!groups_.empty() || collectives_.empty()) return;
  std::vector<int> all;
  for (int rank = 0; rank < world_size; ++rank) all.push_back(rank);
  groups_.emplace("", 0);
  rows_.process_groups.push_back({0, 0, intern("world"), backend, all});
}

namespace {

// "[0, 1, 2]", possibly cut off: "[0, 1, ..., 7]".
std::vector<int> ranks_in(const std::string& list) {
  std::vector<int> ranks;
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at != end) {
    int rank = 0;
    const auto [rest, error] = std::from_chars(at, end, rank);
    if (error == std::errc()) ranks.push_back(rank);
    at = error == std::errc() ? rest : at + 1;
  }
  return ranks;
}

}  // namespace

int KinetoRank::named_ranks() const {
  int most = 0;
  const std::string* before = nullptr;
  for (const Call& made : collectives_) {
    const std::string& list = made.event.group_ranks;
    if (before != nullptr && *before == list) continue;
    before = &list;
    for (const int rank : ranks_in(list)) {
      if (rank >= 0 && rank < job::kMostRunRanks) most = std::max(most, rank + 1);
    }
  }
  return most;
}

// Kernels without a group's name belong to the first.
int KinetoRank::group_id(const KinetoEvent& event) {
  const auto found = groups_.find(event.group);
  if (found != groups_.end()) return found->second;
  if (event.group.empty()) return 0;
  const int id = static_cast<int>(groups_.size());
  groups_.emplace(event.group, id);
  rows_.process_groups.push_back(
      {0, id, intern(event.group), intern("nccl"), ranks_in(event.group_ranks)});
  return id;
}

std::int64_t KinetoRank::group_ranks(int group) const {
  return std::max<std::int64_t>(
      1, std::ssize(rows_.process_groups[static_cast<std::size_t>(group)].ranks));
}

void KinetoRank::make_collectives() {
  std::map<int, std::int64_t> sequences;
  for (const Call& made : collectives_) {
    const KinetoEvent& event = made.event;
    model::Collective row;
    row.lane = made.lane;
    row.process_group = group_id(event);
    const std::int64_t next = sequences[row.process_group]++;
    row.sequence = event.sequence >= 0 ? event.sequence : next;
    row.function = row.executed = collective_function(event.collective, event.name);
    if (made.asked != model::CollectiveFunction::kOther) row.function = made.asked;
    const TorchType type = data_type_of(event);
    row.data_type = intern(type.name);
    row.bytes =
        collective_bytes(row.function, in_elements_of(event, row.function),
                         out_elements_of(event, group_ranks(row.process_group)), type.bytes);
    row.start_ns = event.start_ns;
    row.end_ns = event.start_ns + event.duration_ns;
    row.enqueued_ns = made.asked_ns;
    row.step = step_at(row.start_ns);
    row.phase = phase_at(made.asked_ns != kNoCall ? made.asked_ns : event.start_ns);
    rows_.collectives.push_back(row);
  }
}

// All-reduces by the pass of backward in which they were asked for.
std::vector<DdpBackward> KinetoRank::backwards() {
  std::vector<DdpReduction> reductions;
  for (std::size_t i = 0; i < collectives_.size(); ++i) {
    const model::Collective& row = rows_.collectives[i];
    const bool is_known = collectives_[i].asked_ns != kNoCall;
    if (row.function != model::CollectiveFunction::kAllReduce || !is_known) continue;
    const std::int64_t elements = in_elements_of(collectives_[i].event, row.function);
    reductions.push_back({collectives_[i].asked_ns, elements, row.bytes, i});
  }
  std::ranges::stable_sort(reductions, {}, &DdpReduction::asked_ns);
  std::vector<DdpBackward> backwards;
  for (TrainingPass& pass : passes_) {
    const auto [start_ns, end_ns] = pass.backward;
    const auto first = std::ranges::lower_bound(reductions, start_ns, {}, &DdpReduction::asked_ns);
    const auto last = std::ranges::lower_bound(reductions, end_ns, {}, &DdpReduction::asked_ns);
    backwards.push_back({std::move(pass.gradients), {first, last}});
  }
  return backwards;
}

void KinetoRank::make_buckets(int world_size) {
  if (world_size < 2 || fsdp_.has_units()) return;
  const std::string no_plan(model::kNoBucketPlan);
  DdpBuckets found;
  if (is_ddp_) {
    found = find_ddp_buckets(backwards());
  } else {
    found.why_none = "no " + std::string(kDdpForward) + " is marked in the trace";
  }
  if (!found.why_none.empty()) {
    rows_.log.push_back({0, first_ns_, model::LogLine::Level::kInfo, no_plan + found.why_none});
  }
  for (const DdpBuckets::Tag& tag : found.tags) {
    rows_.collectives[tag.call].tag_kind = model::TagKind::kBucket;
    rows_.collectives[tag.call].tag_index = tag.bucket;
  }
  for (std::size_t plan = 0; plan < found.plans.size(); ++plan) {
    for (const DdpBucket& bucket : found.plans[plan]) {
      const auto index = static_cast<int>(&bucket - found.plans[plan].data());
      model::Bucket& row = rows_.buckets.emplace_back();
      row.plan = static_cast<int>(plan);
      row.index = index;
      row.bytes = bucket.bytes;
      for (const DdpGradient& gradient : bucket.gradients) {
        row.parameters.push_back(intern(gradient.shape));
        row.parameter_bytes.push_back(gradient.elements * gradient.element_bytes);
      }
    }
  }
}

void KinetoRank::make_units() {
  if (!fsdp_.has_units()) return;
  std::vector<FsdpCall> calls;
  for (std::size_t i = 0; i < collectives_.size(); ++i) {
    if (collectives_[i].asked_ns == kNoCall) continue;
    const model::Collective& row = rows_.collectives[i];
    calls.push_back({collectives_[i].asked_ns, row.function, row.bytes,
                     in_elements_of(collectives_[i].event, row.function),
                     group_ranks(row.process_group), row.data_type, i});
  }
  const FsdpUnits found = find_fsdp_units(fsdp_, passes_, calls);
  for (const FsdpUnits::Tag& tag : found.tags) {
    model::Collective& row = rows_.collectives[tag.call];
    row.tag_kind = model::TagKind::kUnit;
    row.tag_index = tag.unit;
    row.tag_name = intern(tag.text);
  }
  for (const FsdpUnit& unit : found.units) {
    const auto index = static_cast<int>(&unit - found.units.data());
    rows_.units.push_back({0, index, intern(unit.name), unit.bytes, unit.bytes / unit.ranks,
                           unit.reduced_bytes, static_cast<int>(unit.ranks), unit.data_type});
    for (const DdpGradient& parameter : unit.parameters) {
      rows_.unit_parameters.push_back(
          {0, index, intern(parameter.shape), parameter.elements * unit.element_bytes});
    }
  }
  for (const FsdpUnits::Ready& each : found.ready) {
    rows_.unit_ready.push_back({0, step_at(each.time_ns), each.unit, each.time_ns});
  }
}

void KinetoRank::leave_out_unbelievable() {
  times_.choose();
  first_ns_ = INT64_MAX;
  last_ns_ = INT64_MIN;
  const auto leaves = [&](std::int64_t start_ns, std::int64_t end_ns) {
    const std::string_view objection = times_.objection(start_ns, end_ns);
    if (!objection.empty()) {
      leave_out(std::string(objection));
      return true;
    }
    first_ns_ = std::min(first_ns_, start_ns);
    last_ns_ = std::max(last_ns_, end_ns);
    return false;
  };
  for (auto& [key, events] : runs_) {
    std::erase_if(events, [&](const model::Event& e) { return leaves(e.start_ns, e.end_ns()); });
  }
  std::erase_if(runs_, [](const auto& run) { return run.second.empty(); });
  std::erase_if(annotations_, [&](const Annotation& a) { return leaves(a.start_ns, a.end_ns); });
  // Their kernels, and allocations, were counted above.
  std::erase_if(collectives_, [&](const Call& call) {
    const auto& event = call.event;
    const bool is_kernel = event.category == KinetoCategory::kKernel;
    const std::int64_t end_ns = event.start_ns + event.duration_ns;
    return is_kernel ? !times_.objection(event.start_ns, end_ns).empty()
                     : leaves(event.start_ns, end_ns);
  });
  std::erase_if(rows_.memory, [&](const model::MemorySample& sample) {
    return !times_.objection(sample.time_ns, sample.time_ns).empty();
  });
  const auto is_believed = [&](const base::Interval& time) {
    return times_.objection(time.start_ns, time.end_ns).empty();
  };
  autograd_.finish(is_believed);
  fsdp_.finish(is_believed);
  host_calls_.finish(is_believed);
  find_passes();
}

}  // namespace shardlens::trace::interop
