#include "trace/interop/kineto_collectives.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

#include "trace/base/text.h"
#include "trace/interop/json/collective_names.h"
#include "trace/interop/marks/call_places.h"
#include "trace/model/untold.h"

namespace shardlens::trace::interop {

namespace {

using Function = model::CollectiveFunction;

// Gloo's collectives, and old ones of NCCL, have but their inputs.
TorchType data_type_of(const KinetoEvent& event) {
  if (!event.data_type.empty()) return torch_type(event.data_type);
  return event.input_type.empty() ? torch_type_of_kernel(event.name)
                                  : torch_type_of_input(event.input_type);
}

// Its shape is that of all values; how many of them it holds is not told.
bool is_sparse(const KinetoEvent& event) { return event.name == kSparseAllReduce; }

std::int64_t in_elements_of(const KinetoEvent& event, Function function) {
  if (is_sparse(event)) return -1;
  if (event.in_elements >= 0) return event.in_elements;
  return function == Function::kOther ? -1 : event.input_elements;
}

// Gloo gathers as much from each rank. `ranks`: 0 where they are not known.
std::int64_t out_elements_of(const KinetoEvent& event, std::int64_t ranks) {
  if (event.out_elements >= 0 || event.input_elements < 0 || ranks == 0) return event.out_elements;
  std::int64_t elements = 0;
  return __builtin_mul_overflow(event.input_elements, ranks, &elements) ? -1 : elements;
}

// "gather", which is none of the functions; "": not told.
std::string_view own_name(const KinetoEvent& event) {
  if (!event.collective.empty()) return event.collective;
  const std::string_view name = event.name;
  return is_host_collective(name) ? name.substr(name.find(':') + 1) : std::string_view();
}

// All-reduces by the pass of backward in which they were asked for.
std::vector<DdpBackward> backwards_of(std::span<const TrainingPass> passes,
                                      const std::vector<AskedCall>& reductions) {
  std::vector<DdpBackward> backwards;
  for (const TrainingPass& pass : passes) {
    const auto [start_ns, end_ns] = pass.backward;
    const auto first = std::ranges::lower_bound(reductions, start_ns, {}, &AskedCall::asked_ns);
    const auto last = std::ranges::lower_bound(reductions, end_ns, {}, &AskedCall::asked_ns);
    backwards.push_back({pass.gradients, {first, last}});
  }
  return backwards;
}

model::Bucket row_of(const DdpBucket& bucket, RowIds& ids) {
  model::Bucket row;
  row.bytes = bucket.bytes;
  for (const DdpGradient& gradient : bucket.gradients) {
    row.parameters.push_back(ids.intern(gradient.shape));
    row.parameter_bytes.push_back(gradient.elements * gradient.element_bytes);
  }
  return row;
}

}  // namespace

int named_ranks(const std::vector<CarriedOut>& collectives) {
  int most = 0;
  const std::string* before = nullptr;
  for (const CarriedOut& made : collectives) {
    const std::string& list = made.event.group_ranks;
    if (before != nullptr && *before == list) continue;
    before = &list;
    for (const int rank : ranks_in(list)) most = std::max(most, rank + 1);
  }
  return most;
}

KinetoCollectives::KinetoCollectives(std::vector<CarriedOut> collectives, const EventRuns& runs,
                                     const HostCalls& host_calls, const NcclCalls& nccl_calls,
                                     bool on_gpu)
    : on_gpu_(on_gpu) {
  for (CarriedOut& made : collectives) calls_.push_back({.made = std::move(made)});
  std::ranges::stable_sort(calls_, {}, [](const Call& call) { return call.made.event.start_ns; });
  find_launches(runs, nccl_calls);
  for (Call& call : calls_) {
    call.asked_ranks = std::max<std::int64_t>(0, call.made.event.group_size);
  }
  if (!on_gpu) find_requests(host_calls);
}

// Of NCCL's kernels: in that order they are carried out.
void KinetoCollectives::find_launches(const EventRuns& runs, const NcclCalls& nccl_calls) {
  std::unordered_map<std::uint64_t, NcclCalls::Launch> launched;
  for (const Call& call : calls_) launched.try_emplace(call.made.event.correlation);
  for (auto& [correlation, launch] : launched) launch.time_ns = kNoCall;
  for (const auto& [key, events] : runs) {
    if (key.second != model::EventKind::kLaunch) continue;
    for (const model::Event& event : events) {
      const auto found = launched.find(event.correlation);
      if (found != launched.end()) found->second = {key.first, event.start_ns, nullptr};
    }
  }
  std::vector<NcclCalls::Launch> launches;
  for (Call& call : calls_) {
    KinetoEvent& kernel = call.made.event;
    if (kernel.correlation == 0) continue;
    NcclCalls::Launch launch = launched[kernel.correlation];
    call.asked_ns = launch.time_ns;
    launch.kernel = &kernel;
    if (launch.time_ns != kNoCall) launches.push_back(launch);
  }
  nccl_calls.tell(launches);
}

// Of Gloo's the operator, likewise.
void KinetoCollectives::find_requests(const HostCalls& host_calls) {
  std::vector<const KinetoEvent*> started;
  for (const Call& call : calls_) started.push_back(&call.made.event);
  const auto requests = host_calls.requests(started);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!requests[i]) continue;
    calls_[i].asked_ns = requests[i]->time_ns;
    calls_[i].asked = requests[i]->function;
    calls_[i].asked_ranks = requests[i]->ranks;
  }
  find_ranks_of_gathers();
  std::ranges::stable_sort(calls_, {}, &Call::order_ns);
}

// What gathers into a list of tensors tells but its own part. It is a shard, of as many ranks as a
// reduction leaves each with as much.
void KinetoCollectives::find_ranks_of_gathers() {
  std::map<std::int64_t, std::int64_t> ranks_of_shard;  // by elements; 0: not always as many
  for (const Call& call : calls_) {
    if (call.asked != Function::kReduceScatter || call.asked_ranks == 0) continue;
    const std::int64_t shard = call.made.event.input_elements / call.asked_ranks;
    const auto [known, is_new] = ranks_of_shard.try_emplace(shard, call.asked_ranks);
    if (!is_new && known->second != call.asked_ranks) known->second = 0;
  }
  for (Call& call : calls_) {
    if (call.asked != Function::kAllGather || call.asked_ranks > 0) continue;
    const auto known = ranks_of_shard.find(call.made.event.input_elements);
    if (known != ranks_of_shard.end()) call.asked_ranks = known->second;
  }
}

std::int64_t KinetoCollectives::awaited_ns(const base::Interval& time) const {
  std::int64_t end_ns = time.end_ns;
  if (on_gpu_) return end_ns;
  const auto first = std::ranges::lower_bound(calls_, time.start_ns, {}, &Call::order_ns);
  for (auto call = first; call != calls_.end() && call->order_ns() < time.end_ns; ++call) {
    if (call->asked_ns == kNoCall) continue;
    end_ns = std::max(end_ns, call->made.event.end_ns());
  }
  return end_ns;
}

void KinetoCollectives::make_groups(const KinetoJob& job, int world_size, bool beside_nccl,
                                    RowIds& ids) {
  if (job.groups.empty() && calls_.empty()) return;
  const bool on_host = !calls_.empty() && !on_gpu_ && !beside_nccl;
  groups_.list(job, world_size, beside_nccl, on_host ? "gloo" : "nccl", ids);
  if (!groups_.empty() || calls_.empty() || world_size == 0 || job.group_count > 1) return;
  groups_.list_world(ids);
}

std::int64_t KinetoCollectives::ranks_of(const Call& call, int group) const {
  if (call.asked_ranks > 0) return call.asked_ranks;
  if (group == kNoGroup) return 0;
  return std::max<std::int64_t>(1, std::ssize(groups_.ranks(group)));
}

UnnamedCalls KinetoCollectives::unnamed(Carrier carrier) const {
  UnnamedCalls unnamed;
  for (const int group : groups_.open_to(carrier)) unnamed.groups.push_back(groups_.ranks(group));
  for (const Call& call : calls_) {
    if (!call.is_unnamed(carrier)) continue;
    const KinetoEvent& event = call.made.event;
    unnamed.calls.push_back({.thread = event.process + " " + event.thread,
                             .asked = call.asked,
                             .executed = collective_function(event.collective, event.name),
                             .elements = event.input_elements,
                             .ranks = call.asked_ranks,
                             .start_ns = event.start_ns,
                             .end_ns = event.end_ns(),
                             .place = std::ssize(unnamed.calls)});
  }
  return unnamed;
}

void KinetoCollectives::set_groups(Carrier carrier, std::span<const int> of_unnamed) {
  const auto groups = groups_.open_to(carrier);
  auto next = of_unnamed.begin();
  for (Call& call : calls_) {
    if (!call.is_unnamed(carrier)) continue;
    const int place = *next++;
    if (place != kNoGroup) call.group = groups[static_cast<std::size_t>(place)];
  }
}

std::vector<std::int64_t> KinetoCollectives::times_of_unnamed_ns(Carrier carrier) const {
  std::vector<std::int64_t> times;
  for (const Call& call : calls_) {
    if (call.is_unnamed(carrier)) times.push_back(call.order_ns());
  }
  return times;
}

void KinetoCollectives::make_rows(RowIds& ids) {
  for (const Call& call : calls_) {
    const KinetoEvent& event = call.made.event;
    model::Collective row;
    row.lane = call.made.lane;
    const int group = event.group.empty() ? call.group : groups_.named_by(event, ids);
    row.process_group = groups_.part_of(group, call.carrier(), ids);
    row.function = row.executed = collective_function(event.collective, event.name);
    if (call.asked != Function::kOther) row.function = call.asked;
    const TorchType type = data_type_of(event);
    row.data_type = ids.intern(type.name);
    row.bytes =
        collective_bytes(row.function, in_elements_of(event, row.function),
                         out_elements_of(event, ranks_of(call, row.process_group)), type.bytes);
    row.start_ns = event.start_ns;
    row.end_ns = event.end_ns();
    row.enqueued_ns = call.asked_ns;
    if (row.function == Function::kOther) {
      row.tag_name = ids.intern(own_name(event));
      if (row.tag_name != 0) row.tag_kind = model::TagKind::kNamed;
    }
    // PyTorch writes the number of the next collective down of what is between two.
    const bool has_number = row.process_group != kNoGroup && !may_be_between_two(row);
    row.sequence = has_number ? event.sequence : -1;
    rows_.push_back(row);
  }
}

void KinetoCollectives::place_in(const KinetoPhases& phases) {
  for (model::Collective& row : rows_) {
    row.step = phases.step_at(row.start_ns);
    row.phase = phases.phase_at(row.enqueued_ns != kNoCall ? row.enqueued_ns : row.start_ns);
  }
}

std::string KinetoCollectives::why_calls_are_unclear() const {
  if (on_gpu_) return "";
  std::int64_t all = 0, unclear = 0;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const Function executed = rows_[i].executed;
    if (executed != Function::kAllReduce && executed != Function::kAllGather) continue;
    ++all;
    if (calls_[i].asked_ns == kNoCall) ++unclear;
  }
  if (unclear == 0) return "";
  return "for " + base::grouped(unclear) + " of " + base::grouped(all) +
         " all-reduces and all-gathers it is not clear which call asked for them, since the trace "
         "does not hold one call (c10d::…) for each (as where its file was cut off)";
}

std::vector<AskedCall> KinetoCollectives::calls() const {
  std::vector<AskedCall> calls;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    if (calls_[i].asked_ns == kNoCall) continue;
    const model::Collective& row = rows_[i];
    const KinetoEvent& event = calls_[i].made.event;
    const std::int64_t ranks = ranks_of(calls_[i], row.process_group);
    const std::int64_t elements = row.function == Function::kAllGather
                                      ? out_elements_of(event, ranks)
                                      : in_elements_of(event, row.function);
    const bool is_of_integers = data_type_of(event).name.find("int") != std::string_view::npos;
    calls.push_back({calls_[i].asked_ns, row.function, row.bytes, elements, ranks, row.data_type, i,
                     is_of_integers, is_sparse(event)});
  }
  return calls;
}

void KinetoCollectives::tag(std::size_t call, model::TagKind kind, int index,
                            model::StringId name) {
  model::Collective& row = rows_[call];
  row.tag_kind = kind;
  row.tag_index = index;
  row.tag_name = name;
}

std::string KinetoCollectives::add_buckets(std::span<const TrainingPass> passes, RowIds& ids,
                                           model::Batch& rows) {
  std::vector<AskedCall> reductions = calls();
  std::erase_if(reductions,
                [](const AskedCall& call) { return call.function != Function::kAllReduce; });
  std::ranges::stable_sort(reductions, {}, &AskedCall::asked_ns);
  const DdpBuckets found = find_ddp_buckets(backwards_of(passes, reductions));
  for (const DdpBuckets::Tag& each : found.tags) {
    tag(each.call, model::TagKind::kBucket, each.bucket);
  }
  for (const std::size_t call : found.used_parameters) {
    tag(call, model::TagKind::kNamed, -1, ids.intern(model::kUsedParameters));
  }
  for (std::size_t plan = 0; plan < found.plans.size(); ++plan) {
    for (std::size_t index = 0; index < found.plans[plan].size(); ++index) {
      model::Bucket& row = rows.buckets.emplace_back(row_of(found.plans[plan][index], ids));
      row.plan = static_cast<int>(plan);
      row.index = static_cast<int>(index);
    }
  }
  return found.why_none;
}

void KinetoCollectives::add_units(const FsdpUnits& found, const KinetoPhases& phases, RowIds& ids,
                                  model::Batch& rows) {
  for (const FsdpUnits::Tag& each : found.tags) {
    tag(each.call, model::TagKind::kUnit, each.unit, ids.intern(each.text));
  }
  for (const FsdpUnit& unit : found.units) {
    const auto index = static_cast<int>(&unit - found.units.data());
    rows.units.push_back({0, index, ids.intern(unit.name), unit.bytes, unit.bytes / unit.ranks,
                          unit.reduced_bytes, static_cast<int>(unit.ranks), unit.data_type});
    for (const DdpGradient& parameter : unit.parameters) {
      rows.unit_parameters.push_back(
          {0, index, ids.intern(parameter.shape), parameter.elements * unit.element_bytes});
    }
  }
  for (const FsdpUnits::Ready& each : found.ready) {
    rows.unit_ready.push_back({0, phases.step_at(each.time_ns), each.unit, each.time_ns});
  }
}

void KinetoCollectives::move_to(model::Batch& rows, GroupNumbers& numbers) {
  rows.collectives = std::move(rows_);
  groups_.move_to(rows, numbers);
}

}  // namespace shardlens::trace::interop
