#include "trace/interop/marks/nccl_calls.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "trace/interop/json/nccl_names.h"

namespace shardlens::trace::interop {

namespace {

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
