#include "trace/interop/marks/host_calls.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

namespace shardlens::trace::interop {

namespace {

using Function = model::CollectiveFunction;

// What PyTorch 2.11 registers (torch/csrc/distributed/c10d/Ops.cpp), and what Gloo does for it
// (ProcessGroupGloo.cpp). Left out: alltoall_, which it lacks, and reduce_scatter_ and
// monitored_barrier_, for which it starts as many collectives as there are ranks.
struct CallName {
  std::string_view op, collective;
  Function function;
};
constexpr std::array kCallNames{
    CallName{"c10d::allreduce_", "gloo:all_reduce", Function::kAllReduce},
    CallName{"c10d::allreduce_coalesced_", "gloo:all_reduce", Function::kAllReduce},
    CallName{"c10d::broadcast_", "gloo:broadcast", Function::kBroadcast},
    CallName{"c10d::allgather_", "gloo:all_gather", Function::kAllGather},
    CallName{"c10d::_allgather_base_", "gloo:all_gather", Function::kAllGather},
    CallName{"c10d::allgather_coalesced_", "gloo:all_gather", Function::kAllGather},
    CallName{"c10d::allgather_into_tensor_coalesced_", "gloo:all_gather", Function::kAllGather},
    CallName{"c10d::_reduce_scatter_base_", "gloo:all_reduce", Function::kReduceScatter},
    // One for each tensor: what several hold together is the size of none.
    CallName{"c10d::reduce_scatter_tensor_coalesced_", "gloo:all_reduce", Function::kReduceScatter},
    CallName{"c10d::reduce_", "gloo:reduce", Function::kReduce},
    CallName{"c10d::gather_", "gloo:gather", Function::kOther},
    CallName{"c10d::scatter_", "gloo:scatter", Function::kOther},
    CallName{"c10d::alltoall_base_", "gloo:all_to_all", Function::kAllToAll},
    CallName{"c10d::send", "gloo:send", Function::kSend},
    CallName{"c10d::recv_", "gloo:recv", Function::kReceive},
    CallName{"c10d::recv_any_source_", "gloo:recvAnySource", Function::kReceive},
    CallName{"c10d::barrier", "gloo:barrier", Function::kBarrier}};

// Asked for as any other.
std::string_view collective_of(std::string_view started) {
  return started == kSparseAllReduce ? "gloo:all_reduce" : started;
}

// As often as what each rank has is in what all have.
std::int64_t ranks_of(const KinetoEvent& event, Function function) {
  if (function != Function::kAllGather && function != Function::kReduceScatter) return 0;
  const auto [part, whole] = std::minmax(event.in_elements, event.out_elements);
  return part > 0 && whole % part == 0 ? whole / part : 0;
}

// As its collective tells them; −1: otherwise, or not at all.
std::int64_t asked_elements(const KinetoEvent& event, const CallName& call) {
  const bool differ = call.op == "c10d::scatter_" || call.op == "c10d::barrier";
  if (differ) return -1;
  return event.in_elements >= 0 ? event.in_elements : event.input_elements;
}

// Of one name and size, in order.
struct Alike {
  std::vector<const HostCalls::Request*> asked;
  std::vector<std::size_t> started;  // by their places
};

// Each with its own: a trace may begin behind the first call, and end before the last collective.
void match(Alike alike, std::span<const KinetoEvent* const> started,
           std::vector<std::optional<HostCalls::Request>>& requests) {
  auto& [asked, places] = alike;
  if (asked.empty()) return;
  const auto is_before_all = [&](std::size_t place) {
    return started[place]->start_ns < asked.front()->time_ns;
  };
  places.erase(places.begin(), std::ranges::find_if_not(places, is_before_all));
  if (places.empty()) return;
  const std::int64_t last_ns = started[places.back()]->start_ns;
  asked.erase(std::ranges::upper_bound(asked, last_ns, {}, &HostCalls::Request::time_ns),
              asked.end());
  const auto follows = [&](std::size_t place, const HostCalls::Request* request) {
    return started[place]->start_ns >= request->time_ns;
  };
  if (!std::ranges::equal(places, asked, follows)) return;
  for (std::size_t i = 0; i < places.size(); ++i) requests[places[i]] = *asked[i];
}

// ---- NCCL's -------------------------------------------------------------------------------------

constexpr std::string_view kRecord = "record_param_comms";
constexpr std::string_view kOperators = "c10d::";
constexpr std::string_view kMarks = "nccl:";
constexpr std::string_view kTensorList = "TensorList";  // which tells no type

using CallsAround = std::vector<const KinetoEvent*>;

// "nccl:all_reduce" and "c10d::allreduce_" by what they ask for.
std::string_view asked_name(const KinetoEvent& call) {
  if (!call.collective.empty()) return call.collective;
  const std::string_view name = call.name;
  return name.starts_with(kMarks) ? name.substr(kMarks.size()) : std::string_view();
}

// Of "c10d::reduce_scatter_" without its inputs, which are lists of lists, the rest is no size.
bool tells_elements(const KinetoEvent& call) {
  if (call.in_elements >= 0 || call.out_elements >= 0) return true;
  return call.input_elements >= 0 && !call.name.starts_with("c10d::reduce_scatter");
}

// Into what is empty.
void fill(std::string& text, std::string_view told) {
  if (text.empty()) text = told;
}

// `around`: the calls in which the kernel was launched, the outermost first.
void tell_names(const CallsAround& around, KinetoEvent& kernel) {
  for (auto call = around.rbegin(); call != around.rend(); ++call) {
    if ((*call)->name == kRecord) fill(kernel.collective, (*call)->collective);
    fill(kernel.data_type, (*call)->data_type);
    fill(kernel.group, (*call)->group);
    fill(kernel.group_ranks, (*call)->group_ranks);
    if (kernel.group_size < 0) kernel.group_size = (*call)->group_size;
    if (kernel.sequence < 0) kernel.sequence = (*call)->sequence;
  }
  for (auto call = around.rbegin(); call != around.rend(); ++call) {
    fill(kernel.collective, asked_name(**call));
  }
  for (const KinetoEvent* call : around) {
    const std::string_view name = call->name;
    if (name.starts_with(kOperators)) fill(kernel.collective, name.substr(kOperators.size()));
  }
}

void tell_sizes(const KinetoEvent& call, KinetoEvent& kernel) {
  kernel.in_elements = call.in_elements >= 0 ? call.in_elements : call.input_elements;
  kernel.out_elements = call.out_elements;
  kernel.input_elements = call.input_elements;
  if (call.input_type != kTensorList) kernel.input_type = call.input_type;
}

}  // namespace

void HostCalls::add(const KinetoEvent& event) {
  if (event.category != KinetoCategory::kOperator) return;
  host_end_ns_ = std::max(host_end_ns_, event.end_ns());
  const auto known = std::ranges::find(kCallNames, std::string_view(event.name), &CallName::op);
  if (known == kCallNames.end()) return;
  const Function function = known->function;
  asked_.push_back({{event.start_ns, function, ranks_of(event, function)},
                    known->collective,
                    asked_elements(event, *known)});
}

void HostCalls::finish(const std::function<bool(const base::Interval&)>& is_believed) {
  std::erase_if(asked_, [&](const Asked& asked) {
    return !is_believed({asked.request.time_ns, asked.request.time_ns});
  });
  std::ranges::stable_sort(asked_, {}, [](const Asked& asked) { return asked.request.time_ns; });
}

auto HostCalls::requests(std::span<const KinetoEvent* const> started) const
    -> std::vector<std::optional<Request>> {
  // By size only where all of a name tell theirs.
  std::map<std::string_view, bool> has_sizes;
  const auto note_size = [&](std::string_view collective, std::int64_t elements) {
    has_sizes.try_emplace(collective, true).first->second &= elements >= 0;
  };
  for (const Asked& asked : asked_) note_size(asked.collective, asked.elements);
  for (const KinetoEvent* event : started) {
    note_size(collective_of(event->name), event->input_elements);
  }
  std::map<std::pair<std::string_view, std::int64_t>, Alike> alike;
  const auto among = [&](std::string_view collective, std::int64_t elements) -> Alike& {
    return alike[{collective, has_sizes[collective] ? elements : -1}];
  };
  for (const Asked& asked : asked_) {
    among(asked.collective, asked.elements).asked.push_back(&asked.request);
  }
  for (std::size_t i = 0; i < started.size(); ++i) {
    // Threads follow one another in a file: what asked for it may be cut off.
    if (is_cut_off_ && started[i]->start_ns > host_end_ns_) continue;
    among(collective_of(started[i]->name), started[i]->input_elements).started.push_back(i);
  }
  std::vector<std::optional<Request>> requests(started.size());
  for (auto& [key, of_key] : alike) match(std::move(of_key), started, requests);
  return requests;
}

bool NcclCalls::takes(const KinetoEvent& event) {
  if (event.category == KinetoCategory::kAnnotation) return event.name.starts_with(kMarks);
  if (event.category != KinetoCategory::kOperator) return false;
  return event.name == kRecord || event.name.starts_with(kOperators);
}

void NcclCalls::finish(const std::function<bool(const base::Interval&)>& is_believed) {
  for (auto& [lane, calls] : by_lane_) {
    std::erase_if(calls, [&](const KinetoEvent& each) { return !is_believed(each.time()); });
    std::ranges::stable_sort(calls, {}, [](const KinetoEvent& each) {
      return std::pair(each.start_ns, -each.duration_ns);
    });
  }
}

void NcclCalls::tell(std::span<const Launch> launches) const {
  std::map<int, std::vector<Launch>> by_lane;
  for (const Launch& launch : launches) {
    const bool tells_itself = !launch.kernel->collective.empty();
    if (!tells_itself && by_lane_.contains(launch.lane)) by_lane[launch.lane].push_back(launch);
  }
  std::map<const KinetoEvent*, std::vector<KinetoEvent*>> kernels;  // by who tells their size
  for (auto& [lane, of_lane] : by_lane) {
    std::ranges::stable_sort(of_lane, {}, &Launch::time_ns);
    const std::vector<KinetoEvent>& calls = by_lane_.at(lane);
    CallsAround around;
    auto next = calls.begin();
    for (const Launch& launch : of_lane) {
      for (; next != calls.end() && next->start_ns <= launch.time_ns; ++next)
        around.push_back(&*next);
      std::erase_if(around,
                    [&](const KinetoEvent* call) { return call->end_ns() < launch.time_ns; });
      if (around.empty()) continue;
      tell_names(around, *launch.kernel);
      const auto teller = std::ranges::find_if(
          around.rbegin(), around.rend(), [](const auto* call) { return tells_elements(*call); });
      if (teller != around.rend()) kernels[*teller].push_back(launch.kernel);
    }
  }
  for (const auto& [call, launched] : kernels) {
    if (launched.size() == 1) tell_sizes(*call, *launched.front());
  }
}

}  // namespace shardlens::trace::interop
