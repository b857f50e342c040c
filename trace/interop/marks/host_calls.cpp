#include "trace/interop/marks/host_calls.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>

namespace shardlens::trace::interop {

namespace {

using Function = model::CollectiveFunction;

// torch/csrc/distributed/c10d/Ops.cpp and ProcessGroupGloo.cpp of PyTorch 2.11.
struct CallName {
  std::string_view op, collective;
  Function function;
};
constexpr std::array kCallNames{
    CallName{"c10d::allreduce_", "gloo:all_reduce", Function::kAllReduce},
    CallName{"c10d::broadcast_", "gloo:broadcast", Function::kBroadcast},
    CallName{"c10d::allgather_", "gloo:all_gather", Function::kAllGather},
    CallName{"c10d::_allgather_base_", "gloo:all_gather", Function::kAllGather},
    CallName{"c10d::_reduce_scatter_base_", "gloo:all_reduce", Function::kReduceScatter},
    CallName{"c10d::reduce_", "gloo:reduce", Function::kReduce}};

constexpr std::size_t kMostThreads = 4;  // of Gloo; 2 by default

// As often as what each rank has is in what all have.
std::int64_t ranks_of(const KinetoEvent& event) {
  const auto [part, whole] = std::minmax(event.in_elements, event.out_elements);
  return part > 0 && whole % part == 0 ? whole / part : 0;
}

}  // namespace

void HostCalls::add(const KinetoEvent& event) {
  if (event.category != KinetoCategory::kOperator) return;
  const auto known = std::ranges::find(kCallNames, std::string_view(event.name), &CallName::op);
  if (known == kCallNames.end()) return;
  asked_.push_back({{event.start_ns, known->function, ranks_of(event)},
                    known->collective,
                    event.input_elements});
}

void HostCalls::finish(const std::function<bool(const base::Interval&)>& is_believed) {
  std::erase_if(asked_, [&](const Asked& asked) {
    return !is_believed({asked.request.time_ns, asked.request.time_ns});
  });
  std::ranges::stable_sort(asked_, {}, [](const Asked& asked) { return asked.request.time_ns; });
}

auto HostCalls::requests(std::span<const KinetoEvent* const> started) const
    -> std::vector<Request> {
  std::map<std::string_view, std::deque<std::size_t>> waiting;  // places in `started`, by name
  for (std::size_t i = 0; i < started.size(); ++i) waiting[started[i]->name].push_back(i);
  std::vector<Request> requests(started.size());
  std::size_t matched = 0;
  for (const Asked& asked : asked_) {
    auto& places = waiting[asked.collective];
    const auto end =
        places.begin() + static_cast<std::ptrdiff_t>(std::min(places.size(), kMostThreads));
    const auto is_it = [&](std::size_t place) {
      const KinetoEvent& event = *started[place];
      const bool is_of_size =
          asked.elements < 0 || event.input_elements < 0 || asked.elements == event.input_elements;
      return event.start_ns >= asked.request.time_ns && is_of_size;
    };
    const auto found = std::find_if(places.begin(), end, is_it);
    if (found == end) return {};
    requests[*found] = asked.request;
    places.erase(found);
    ++matched;
  }
  if (matched != started.size()) return {};
  return requests;
}

}  // namespace shardlens::trace::interop
